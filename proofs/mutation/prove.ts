/**
 * `npm run prove -- mutate`: runs Stryker on the pure money core, and reports the score and the surviving mutations.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { defineProof, type Finding, keepFlag } from '../proof.ts'

const ROOT = join(import.meta.dirname, '../..')
const REPORT = join(ROOT, '.data/mutation.json')

/** The fields that this proof reads from the report (schema of mutation-testing-elements). */
const reportSchema = z.object({
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

export const mutateProof = defineProof({
  options: z
    .object({
      only: z.string().optional().describe('a file, or FILE:FROM-TO of its lines'),
      keep: keepFlag(),
    })
    .refine(({ keep, only }) => !keep || only === undefined, {
      path: ['keep'],
      message: 'a result covers the whole core, so --keep excludes --only',
    }),
  run: ({ only }) => mutate(only === undefined ? [] : ['--mutate', only]),
})

async function mutate(args: readonly string[]): Promise<Finding> {
  // Removes the report of an earlier run, so it cannot be read as this run's.
  rmSync(REPORT, { force: true })
  const bin = join(ROOT, 'node_modules/@stryker-mutator/core/bin/stryker.js')
  const stryker = spawn(process.execPath, [bin, 'run', ...args], { cwd: ROOT, stdio: 'inherit' })
  const [code] = await once(stryker, 'exit')
  const { files } = reportSchema.parse(JSON.parse(readFileSync(REPORT, 'utf8')))
  const mutants = Object.entries(files).flatMap(([file, { mutants: ofFile }]) =>
    ofFile.map((mutant) => ({ file, ...mutant })),
  )
  const seen = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length
  const living = mutants
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ file, location, mutatorName, replacement = '' }) => ({
      at: `${file}:${location.start.line}`,
      mutator: mutatorName,
      replacement: replacement.replace(/\s+/g, ' ').slice(0, 120),
    }))
  const mutations = seen + living.length
  const score = Math.round((seen / mutations) * 10_000) / 100
  const passed = code === 0
  console.log(`mutate: ${seen} of ${mutations} mutations found, ${score} % ${passed ? 'PASS' : 'FAIL'}`)
  return { passed, result: { name: 'mutate', content: { passed, mutations, seen, score, living } } }
}
