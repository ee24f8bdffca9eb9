/** A store's own colour, changed only enough to be visible and readable on our page, dark or light. */
import { useLayoutEffect } from 'react'

type Rgb = readonly number[]

/** `strong` is the colour under the pointer, `on` the colour of text on both. */
export type Accent = { accent: string; strong: string; on: string }

/** The surface of each scheme on which a visible accent has the least contrast. tokens.css has all surfaces. */
const WORST_SURFACE = { dark: '#1d232d', light: '#f1f4f8' }
export const SCHEMES = ['dark', 'light'] as const
const BLACK: Rgb = [0, 0, 0]
const WHITE: Rgb = [255, 255, 255]
/** The least contrast of an icon with its surface (WCAG 1.4.11). */
const LEAST_CONTRAST = 3
/** How much closer each attempt moves the colour to white or black, as a share of the way. */
const STEP = 0.05
/** How far the colour under the pointer moves, as a share of the way. */
const HOVER = 0.12

const rgbOf = (hex: string): Rgb => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
const hexOf = (rgb: Rgb): string =>
  `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`
const mix = (from: Rgb, to: Rgb, share: number): Rgb =>
  from.map((part, index) => part + ((to[index] ?? part) - part) * share)

/** Relative luminance as WCAG defines it. */
function luminance(rgb: Rgb): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(a: Rgb, b: Rgb): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other)
  return (light + 0.05) / (dark + 0.05)
}

export const contrastOf = (a: string, b: string): number => contrast(rgbOf(a), rgbOf(b))

export function accentIn(scheme: (typeof SCHEMES)[number], colour: string): Accent {
  const surface = rgbOf(WORST_SURFACE[scheme])
  const opposite = scheme === 'dark' ? WHITE : BLACK
  let visible = rgbOf(colour)
  for (let share = STEP; contrast(visible, surface) < LEAST_CONTRAST; share += STEP) {
    visible = rgbOf(hexOf(mix(rgbOf(colour), opposite, share)))
  }
  // Black or white is always readable: if black has a contrast below 4.5, white has more.
  const takesDarkText = contrast(visible, BLACK) >= contrast(visible, WHITE)
  return {
    accent: hexOf(visible),
    // Moves away from the text's colour, which makes the text even easier to read.
    strong: hexOf(mix(visible, takesDarkText ? WHITE : BLACK, HOVER)),
    on: takesDarkText ? '#000000' : '#ffffff',
  }
}

/** Applies a store's colour to the page. With null, the page's own colour stays. */
export function useAccent(colour: string | null): void {
  useLayoutEffect(() => {
    if (colour === null) return
    const { style } = document.documentElement
    for (const scheme of SCHEMES) {
      const adapted = accentIn(scheme, colour)
      style.setProperty(`--store-${scheme}`, adapted.accent)
      style.setProperty(`--store-${scheme}-strong`, adapted.strong)
      style.setProperty(`--store-${scheme}-on`, adapted.on)
    }
  }, [colour])
}
