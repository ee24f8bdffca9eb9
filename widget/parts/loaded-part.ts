/** A part of the built page. After a failure it loads again from a new address. */
import { createPart, type Part } from './part.ts'

/** The browser remembers a failed import until the page is left, so every later attempt has a new address. */
export function part<Code>(name: string, first: () => Promise<Code>): Part<Code> {
  return createPart(async (attempt) => {
    const newAddresses = attempt === 1 ? null : addressesOf(document.documentElement.dataset[name], attempt)
    if (newAddresses === null) return first()
    await Promise.all(newAddresses.styles.map(loadStyles))
    return import(/* @vite-ignore */ newAddresses.script)
  })
}

/** Returns the files of a part, which the build names in the document; null on a page that was not built. */
export function addressesOf(
  files: string | undefined,
  attempt: number,
): { script: string; styles: string[] } | null {
  const addresses = (files ?? '')
    .split(' ')
    .filter((file) => file !== '')
    .map((file) => `${file}?attempt=${attempt}`)
  const [script, ...styles] = addresses
  return script === undefined ? null : { script, styles }
}

/** Resolves once the style sheet is applied. */
function loadStyles(address: string): Promise<void> {
  const link = document.createElement('link')
  link.rel = 'stylesheet'
  link.href = address
  return new Promise((resolve, reject) => {
    link.addEventListener('load', () => resolve())
    link.addEventListener('error', () => {
      link.remove()
      reject(new TypeError(`failed to load ${address}`))
    })
    document.head.append(link)
  })
}
