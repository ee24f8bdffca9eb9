/** The shell: the page that the server sends, and that is shown before its code is loaded (../shell.tsx). */

const shell = (): HTMLElement | null => document.getElementById('shell')

/** True while the shell is shown. A loading screen would say less, so it must not replace the shell. */
export const hasShell = (): boolean => shell() !== null

/** Call when a screen replaces the shell, before the browser paints. */
export const removeShell = (): void => shell()?.remove()
