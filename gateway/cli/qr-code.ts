import { renderUnicodeCompact } from 'uqr'

/**
 * Bright white on black, whatever the terminal's colours: the library draws the light modules as characters, and some
 * phones cannot read a code whose dark modules are light.
 */
const COLOURS = '\u001b[97;40m'
const RESET = '\u001b[0m'

/** How to ask for a scan. `isReplacement`: the code replaces an earlier one, which no longer works. */
export const scanThis = (isReplacement: boolean): string =>
  isReplacement ? 'Steam has replaced the QR code, so scan this one' : 'Scan this'

export const qrCode = (text: string): string =>
  renderUnicodeCompact(text, { border: 2 })
    .split('\n')
    .map((line) => `${COLOURS}${line}${RESET}`)
    .join('\n')
