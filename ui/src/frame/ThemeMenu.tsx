import type { ReactNode } from "react";
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";

import { THEMES, chooseTheme, useTheme, type Theme } from "../lib/theme.ts";
import { SunIcon } from "../parts/icons.tsx";

const NAMES: Readonly<Record<Theme, string>> = { light: "Light", dark: "Dark", system: "System" };

export function ThemeMenu(): ReactNode {
  const chosen = useTheme();
  return (
    <MenuTrigger>
      <AriaButton className="button quiet square" aria-label="Theme"><SunIcon /></AriaButton>
      <Popover placement="bottom end">
        <Menu className="menu" aria-label="Theme" onAction={(key) => { chooseTheme(key as Theme); }}>
          {THEMES.map((each) => (
            <MenuItem key={each} id={each} className="menu-item" textValue={NAMES[each]} {...(each === chosen ? { "data-selected": true } : {})}>{NAMES[each]}</MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
