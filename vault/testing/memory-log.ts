/** An unsealed log of the vault, in memory. */
import type { Key } from '../files/key.ts'
import type { Entry, VaultLog } from '../files/log.ts'

export const PLAIN_KEY: Key = { seal: (plain) => plain, open: (sealed) => sealed, mac: (text) => text }

export function createMemoryLog(): VaultLog {
  const entries: Entry[] = []
  return {
    entries: () => entries,
    add(entry, at) {
      const added = { n: entries.length + 1, at, entry }
      entries.push(added)
      return added
    },
    close() {},
  }
}
