import { expect, it } from 'vitest'
import type { Findings } from '../operations/find.ts'
import { findingLines } from './deposit-lines.ts'

const NOTHING: Findings = {
  deposits: [],
  shoppers: [],
  stores: [],
  bots: [],
  items: [],
  events: [],
  departures: [],
  isCut: false,
}

it.each([
  [12n, 'sequence 12'],
  [null, 'not published'],
])('the line of an event with the sequence %s says %s', (sequence, sequenceText) => {
  const event: Findings['events'][number] = {
    eventId: '6f1c7a52-3b90-4c5e-9d2a-000000000012',
    storeId: 3n,
    type: 'deposit.succeeded',
    sequence,
    depositId: 7n,
    createdAt: new Date(0),
    deliveries: [],
  }
  expect(findingLines({ ...NOTHING, events: [event] })).toEqual([
    [
      'event',
      '6f1c7a52-3b90-4c5e-9d2a-000000000012',
      '1970-01-01T00:00:00.000Z',
      'deposit.succeeded',
      `store 3, ${sequenceText}`,
      'deposit 7',
    ].join('\t'),
  ])
})
