/** The names within a path of any of the notations. */
export function partsOfPath(path: string): string[] {
  const plain = path.replace(/^\$\.?/, "").replace(/\[(\d+)\]/g, ".$1").replace(/\["?([^"\]]+)"?\]/g, ".$1").replaceAll("/", ".");
  return plain.split(".").filter((part) => part !== "" && part !== "input" && part !== "value");
}
