/**
 * Writes docs/openapi.json, which describes the store API to tools, with an example address of the till. Also writes
 * the types of the package for stores, generated from the same document.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiOf } from '../gateway/store-api/openapi.ts'
import { OPERATIONS } from '../gateway/store-api/table.ts'
import { shapesOf } from './openapi-types.ts'

const ROOT = join(import.meta.dirname, '..')
const TYPES = 'sdk/types.ts'
const SHAPES = ['Deposit', 'DepositList', 'Event', 'EventList', 'NewDeposit', 'Problem', 'WebhookTest']

const document = () => openApiOf(OPERATIONS, 'https://pay.example')

export const documentText = (): string => `${JSON.stringify(document(), null, 2)}\n`

export function typesText(): string {
  const text = `/** Written by scripts/openapi.ts. */\n${shapesOf(document(), SHAPES)}\n`
  const biome = join(ROOT, 'node_modules/.bin/biome')
  return execFileSync(biome, ['format', `--stdin-file-path=${TYPES}`], {
    cwd: ROOT,
    input: text,
    encoding: 'utf8',
  })
}

if (import.meta.main) {
  writeFileSync(join(ROOT, 'docs/openapi.json'), documentText())
  writeFileSync(join(ROOT, TYPES), typesText())
}
