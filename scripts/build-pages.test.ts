import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { filesOf, PAGES } from './build-pages.ts'
import { readSource } from './source-tree.ts'

const ROOT = join(import.meta.dirname, '..')

test.each(PAGES)('a build depends on every source that the $folder imports', (page) => {
  const sources = filesOf(page).map((file) => relative(ROOT, file).replaceAll('\\', '/'))
  const imported = sources
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx$|vite\.config\.ts$/.test(file))
    .flatMap((file) => readSource(file, readFileSync(join(ROOT, file), 'utf8')).imports)
    .flatMap(({ to, isTypeOnly }) => (isTypeOnly ? [] : [to.replace(/\?.*$/, '')]))
  expect(imported.length).toBeGreaterThan(50)
  expect(imported.filter((file) => !sources.includes(file))).toEqual([])
})
