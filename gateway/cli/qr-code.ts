/** A picture in the terminal that a phone can scan. */
import { renderUnicodeCompact } from 'uqr'

/** Bright white on black, whatever the colours of the terminal: not every phone reads an inverted one. */
const COLOURS = '\u001b[97;40m'
const RESET = '\u001b[0m'

export const qrCode = (text: string): string =>
  renderUnicodeCompact(text, { border: 2 })
    .split('\n')
    .map((line) => `${COLOURS}${line}${RESET}`)
    .join('\n')
