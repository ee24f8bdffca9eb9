import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { NOT_RUN_HERE } from './not-run-here.ts'

const ROOT = join(import.meta.dirname, '..')
const packageSchema = z.object({ scripts: z.record(z.string(), z.string()) })
const { scripts } = packageSchema.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))

test.each(NOT_RUN_HERE)('$what: `$command` names what exists', ({ command }) => {
  const [, script] = /^npm run ([\w-]+)( -- --.+)?$/.exec(command) ?? []
  const [, file] = /^PROOF_[A-Z]+=\d+ npm test -- ([\w/-]+)$/.exec(command) ?? []
  expect(Object.keys(scripts).includes(script ?? '') || existsSync(join(ROOT, `${file}.test.ts`))).toBe(true)
})
