import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import config from './vitest.config.ts'

const ROOT = import.meta.dirname

const projectSchema = z.object({
  test: z.object({ include: z.array(z.string()), exclude: z.array(z.string()).default([]) }),
})
const configSchema = z.object({ test: z.object({ projects: z.array(projectSchema) }) })

test('every test file belongs to a project of vitest.config.ts', () => {
  const { projects } = configSchema.parse(config).test
  const included = new Set(
    projects.flatMap(({ test: { include, exclude } }) => globSync(include, { cwd: ROOT, exclude })),
  )
  const files = execFileSync('git', ['ls-files', '*.test.ts', '*.test.tsx'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '')
  expect(files.filter((file) => !included.has(file))).toEqual([])
})
