import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { NOT_RUN_HERE } from './not-run-here.ts'

const ROOT = join(import.meta.dirname, '..')
const packageSchema = z.object({ scripts: z.record(z.string(), z.string()) })
const { scripts } = packageSchema.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))

/** The list of all proofs, printed by a single process because each process would load most of the project. */
const printed = execFileSync(process.execPath, [join(ROOT, 'proofs/prove.ts')], { encoding: 'utf8' })
/** Returns the lines about one proof; empty if it does not exist. */
const helpOf = (proof: string): string =>
  printed.split('\n\n').find((lines) => lines.startsWith(`${proof}: `)) ?? ''

test.each(NOT_RUN_HERE)('$what: `$command` names existing files and options', ({ command }) => {
  const [, file] = /^PROOF_[A-Z]+=\d+ npm test -- ([\w/-]+)$/.exec(command) ?? []
  if (file !== undefined) {
    expect(existsSync(join(ROOT, `${file}.test.ts`))).toBe(true)
    return
  }
  const [, script = '', words = ''] = /^npm run ([\w-]+)(?: -- (.+))?$/.exec(command) ?? []
  expect(Object.keys(scripts)).toContain(script)
  if (script !== 'prove') return
  // Leaves out the values of options.
  const [proof = '', ...options] = words.split(' ').filter((word) => !/^(\d+|pure|real)$/.test(word))
  const help = helpOf(proof)
  expect(help).not.toBe('')
  for (const option of options) expect(help).toContain(`  ${option} `)
})
