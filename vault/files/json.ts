/** Reads JSON from the vault's files. Every error names the file, because a person must put it in order. */
import { z } from 'zod'
import type { Folder } from './folder.ts'

/** Returns the content of the file, or `absent` if there is no such file. Throws if it is not JSON. */
export function readJson(folder: Folder, name: string, absent: unknown): unknown {
  const text = folder.read(name)
  if (text === undefined) return absent
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${folder.at(name)} is not JSON, so it was damaged: restore it from a backup.`)
  }
}

/** Throws with a readable reason if the content does not fit the schema. */
export function checkContent<S extends z.ZodType>(
  folder: Folder,
  { name, schema, content }: { name: string; schema: S; content: unknown },
): z.output<S> {
  const result = schema.safeParse(content)
  if (result.success) return result.data
  throw new Error(`${folder.at(name)}: ${z.prettifyError(result.error)}`)
}
