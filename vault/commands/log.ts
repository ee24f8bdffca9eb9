/** `log`: prints what the vault did, from its own log file, and checks that file's chain of signatures. */
import { openFolder } from '../files/folder.ts'
import { openKey } from '../files/key.ts'
import { readLog } from '../files/log.ts'
import type { Settings } from '../settings.ts'
import type { Terminal } from '../terminal.ts'

/** Prints the latest entries, without their sealed secrets. */
export function showLog(settings: Settings, terminal: Terminal, { limit }: { limit: number }): void {
  const folder = openFolder(settings.folder)
  const key = openKey(folder)
  // Reads the log twice, so all of it is checked before anything is printed. A running vault may add entries meanwhile.
  let count = 0
  for (const { n } of readLog(folder, key)) count = n
  for (const { n, at, entry } of readLog(folder, key)) {
    if (n <= count - limit || n > count) continue
    const json = JSON.stringify(entry, (name, value) => (name.startsWith('sealed') ? undefined : value))
    terminal.print(`${n}\t${at.toISOString()}\t${json}`)
  }
  terminal.print(`Entries: ${count}, all exactly as the vault wrote them. Lost last entries do not show.`)
}
