/** `npm run mutate`: Stryker over the pure money core. Keeps the score and the mutations that live. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { writeResult } from '../result.ts'

const ROOT = join(import.meta.dirname, '../..')
const REPORT = join(ROOT, '.data/mutation.json')

/** What is read of the report, by the schema of mutation-testing-elements. */
const Report = z.object({
  files: z.record(
    z.string(),
    z.object({
      mutants: z.array(
        z.object({
          status: z.string(),
          mutatorName: z.string(),
          replacement: z.string().optional(),
          location: z.object({ start: z.object({ line: z.number() }) }),
        }),
      ),
    }),
  ),
})

async function main(): Promise<number> {
  // What an earlier run found is no result of this one.
  rmSync(REPORT, { force: true })
  const bin = join(ROOT, 'node_modules/@stryker-mutator/core/bin/stryker.js')
  const stryker = spawn(process.execPath, [bin, 'run', ...process.argv.slice(2)], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  const [code] = await once(stryker, 'exit')
  const { files } = Report.parse(JSON.parse(readFileSync(REPORT, 'utf8')))
  const mutants = Object.entries(files).flatMap(([file, of]) =>
    of.mutants.map((mutant) => ({ file, ...mutant })),
  )
  const seen = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length
  const living = mutants
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ file, location, mutatorName, replacement = '' }) => ({
      at: `${file}:${location.start.line}`,
      mutator: mutatorName,
      replacement: replacement.replace(/\s+/g, ' ').slice(0, 120),
    }))
  const score = Math.round((seen / (seen + living.length)) * 10_000) / 100
  writeResult('mutations', { passed: code === 0, mutations: seen + living.length, seen, score, living })
  return code === 0 ? 0 : 1
}

process.exitCode = await main()
