import { readFileSync } from 'node:fs'

/** `reason` continues a sentence that begins with the setting's name. */
export type Refused = { kind: 'refused'; reason: string }

/** Reads a setting from the file that another setting names, without surrounding space. */
export function readSettingFile(file: string): { kind: 'text'; text: string } | Refused {
  const answer = readTextFile(file)
  if (answer.kind === 'text') return { kind: 'text', text: answer.text.trim() }
  const { code } = answer
  const reason =
    code === 'ENOENT'
      ? 'names a file that does not exist: create it, or correct the path'
      : `names a file that cannot be read (${code}): check the path and the permissions`
  return { kind: 'refused', reason }
}

/** `code`: Node's, such as `ENOENT`. */
export function readTextFile(
  file: string,
): { kind: 'text'; text: string } | { kind: 'unreadable'; code: string } {
  try {
    return { kind: 'text', text: readFileSync(file, 'utf8') }
  } catch (error) {
    return {
      kind: 'unreadable',
      code: String(error instanceof Error && 'code' in error ? error.code : error),
    }
  }
}
