/** Writes docs/openapi.json: the store API as a document for tools, with an invented address of the till. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiOf } from '../gateway/store-api/openapi.ts'
import { OPERATIONS } from '../gateway/store-api/table.ts'

const FILE = join(import.meta.dirname, '../docs/openapi.json')

export const documentText = (): string =>
  `${JSON.stringify(openApiOf(OPERATIONS, 'https://pay.example'), null, 2)}\n`

if (import.meta.main) writeFileSync(FILE, documentText())
