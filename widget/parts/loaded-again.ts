/** Loads a script and its styles once more, under addresses that no browser has seen fail. */

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
