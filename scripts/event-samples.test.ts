import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EVENT_TYPES } from '../contract/event-types.ts'
import { withSamples } from './event-samples.ts'

const text = readFileSync(join(import.meta.dirname, '../docs/webhooks.md'), 'utf8')

it('docs/webhooks.md shows a valid sample of every event type (node scripts/event-samples.ts writes them)', () => {
  expect(text).toBe(withSamples(text))
  for (const type of EVENT_TYPES) expect(text).toContain(`### \`${type}\``)
})
