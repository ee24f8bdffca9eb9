import { renderUnicodeCompact } from 'uqr'

/**
 * Bright white on black, whatever the terminal's colours: the library draws the light modules as characters, and some
 * phones cannot read a code whose dark modules are light.
 */
const COLOURS = '\u001b[97;40m'
const RESET = '\u001b[0m'

export const qrCode = (text: string): string =>
  renderUnicodeCompact(text, { border: 2 })
    .split('\n')
    .map((line) => `${COLOURS}${line}${RESET}`)
    .join('\n')
