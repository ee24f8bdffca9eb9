import { renderUnicodeCompact } from 'uqr'

/** Sets bright white on black whatever the terminal's colours, because some phones cannot read an inverted code. */
const COLOURS = '\u001b[97;40m'
const RESET = '\u001b[0m'

export const qrCode = (text: string): string =>
  renderUnicodeCompact(text, { border: 2 })
    .split('\n')
    .map((line) => `${COLOURS}${line}${RESET}`)
    .join('\n')
