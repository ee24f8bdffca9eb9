/** A part of the built page, which can be loaded again under addresses that no browser has seen fail. */
import { createPart, type Part } from './part.ts'

/** A failed import is answered from the browser's memory until the page is left, so later attempts have addresses of their own. */
export function part<Code>(name: string, first: () => Promise<Code>): Part<Code> {
  return createPart(async (attempt) => {
    const again = attempt === 1 ? null : addressesOf(document.documentElement.dataset[name], attempt)
    if (again === null) return first()
    await Promise.all(again.styles.map(loadStyles))
    return import(/* @vite-ignore */ again.script)
  })
}

/** The build names the files of a part in the document; a page that is served unbuilt does not. */
export function addressesOf(
  files: string | undefined,
  attempt: number,
): { script: string; styles: string[] } | null {
  const again = (files ?? '')
    .split(' ')
    .filter((file) => file !== '')
    .map((file) => `${file}?attempt=${attempt}`)
  const [script, ...styles] = again
  return script === undefined ? null : { script, styles }
}

/** Resolves once the style sheet applies. */
export function loadStyles(address: string): Promise<void> {
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
