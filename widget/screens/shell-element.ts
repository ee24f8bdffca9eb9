/** The shell that the first answer of the server drew: see ../shell.tsx. */

const shell = (): HTMLElement | null => document.getElementById('shell')

/** It says more than a page that waits. */
export const hasShell = (): boolean => shell() !== null

/** For the moment in which a screen takes its place, before anything is painted. */
export const removeShell = (): void => shell()?.remove()
