import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const FILE = join(import.meta.dirname, '../../package.json')

/** Reads the file when called, because most commands do not need the version. */
export const ourVersion = (): string =>
  z.object({ version: z.string() }).parse(JSON.parse(readFileSync(FILE, 'utf8'))).version

/** True if `version` comes before `other`. Throws if either does not begin like 1.2.3; ignores what follows. */
export function isOlder(version: string, other: string): boolean {
  const [numbers, otherNumbers] = [numbersOf(version), numbersOf(other)]
  const index = numbers.findIndex((part, at) => part !== otherNumbers[at])
  return index !== -1 && (numbers[index] ?? 0) < (otherNumbers[index] ?? 0)
}

function numbersOf(version: string): number[] {
  const match = /^(\d+)\.(\d+)\.(\d+)/.exec(version)
  if (match === null) throw new Error(`${JSON.stringify(version)} is not a version such as 1.2.3.`)
  return match.slice(1).map(Number)
}
