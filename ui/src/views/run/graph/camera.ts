/** Which part of a picture is seen: `screen = world * scale + offset`. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const LARGEST = 2.5;
const MARGIN = 24;

/** The whole picture, in the middle, at most at its own size. */
export function fitted(picture: Size, view: Size): Camera {
  const scale = Math.min(1.15, (view.width - 2 * MARGIN) / Math.max(1, picture.width), (view.height - 2 * MARGIN) / Math.max(1, picture.height));
  const kept = Math.max(0.005, scale);
  return { scale: kept, x: (view.width - picture.width * kept) / 2, y: (view.height - picture.height * kept) / 2 };
}

/** Zoom by a factor, with what is under a point staying there. */
export function zoomed(camera: Camera, by: number, at: { x: number; y: number }, least: number): Camera {
  const scale = Math.min(LARGEST, Math.max(Math.min(least, 0.2), camera.scale * by));
  const factor = scale / camera.scale;
  return { scale, x: at.x - (at.x - camera.x) * factor, y: at.y - (at.y - camera.y) * factor };
}

/** Moved no further than until a strip of the picture is left in view. */
export function held(camera: Camera, picture: Size, view: Size): Camera {
  const strip = 60;
  const x = Math.min(view.width - strip, Math.max(strip - picture.width * camera.scale, camera.x));
  const y = Math.min(view.height - strip, Math.max(strip - picture.height * camera.scale, camera.y));
  return { scale: camera.scale, x, y };
}

/** Showing a box: moved as little as needed, and large enough to be read. */
export function showing(camera: Camera, box: { x: number; y: number; w: number; h: number }, view: Size, readable: number): Camera {
  const scale = Math.max(camera.scale, readable);
  const [cx, cy] = [box.x + box.w / 2, box.y + box.h / 2];
  if (scale !== camera.scale) return { scale, x: view.width / 2 - cx * scale, y: view.height / 2 - cy * scale };
  const pad = 30;
  const [left, top] = [box.x * scale + camera.x, box.y * scale + camera.y];
  const [right, bottom] = [left + box.w * scale, top + box.h * scale];
  const dx = left < pad ? pad - left : right > view.width - pad ? view.width - pad - right : 0;
  const dy = top < pad ? pad - top : bottom > view.height - pad ? view.height - pad - bottom : 0;
  return dx === 0 && dy === 0 ? camera : { scale, x: camera.x + dx, y: camera.y + dy };
}
