/** Stores the seeds that broke a promise during a `night` proof, for a person to examine. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'

const failingSeedSchema = z.object({
  level: z.enum(['pure', 'real']),
  seed: z.number(),
  /** The promise that it broke, with the details. */
  broke: z.string(),
  /** The commit, with a plus if the sources differed from it. */
  commit: z.string(),
  at: z.string(),
})

export type FailingSeed = z.infer<typeof failingSeedSchema>

export function readFailingSeeds(file: string): FailingSeed[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    // The file does not exist before the first failure.
    return []
  }
  return z.array(failingSeedSchema).parse(JSON.parse(text))
}

/** Writes immediately, so an interrupted night keeps its findings. */
export function keepFailingSeed(file: string, failing: FailingSeed): void {
  const known = readFailingSeeds(file)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify([...known, failing], null, 2)}\n`)
}
