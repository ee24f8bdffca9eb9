/** The store's event log and money. */
import { LONGEST_REPORT, LONGEST_REPORT_TEXT } from '../../contract/limits.ts'
import { reportQuerySchema, reportSchema } from '../../contract/report.ts'
import { balancesSchema, statementQuerySchema, statementSchema } from '../../contract/store-api.ts'
import { eventListSchema, eventsQuerySchema } from '../../contract/webhooks.ts'
import { lastSequence, readEvents } from '../events/store.ts'
import { refuse } from '../http/refusal.ts'
import { DAY_MS, HOUR_MS } from '../kit/duration.ts'
import { isMovementOf, readBalances, readStatement } from '../stores/balance-store.ts'
import { readDays } from '../stores/report-store.ts'
import { type Operation, ok, operation } from './operation.ts'

export const ACCOUNT_OPERATIONS: readonly Operation[] = [
  operation({
    id: 'listEvents',
    method: 'GET',
    path: '/v1/events',
    scope: 'deposits:read',
    group: 'Events',
    summary: 'The event log',
    description:
      'In order. Once you have read an event, no event with a smaller sequence appears later. A webhook announces one of these events, and may be late or missing.',
    takes: { query: eventsQuerySchema },
    answer: eventListSchema,
    refusals: ['cursor_ahead'],
    async handle({ db }, store, { query }) {
      const page = await readEvents(db, store.id, query)
      const isEnd = page.events.length === 0 && query.after > 0
      if (isEnd && (await lastSequence(db, store.id)) < BigInt(query.after)) refuse('cursor_ahead')
      return ok(page)
    },
  }),
  operation({
    id: 'getBalance',
    method: 'GET',
    path: '/v1/balance',
    scope: 'balance:read',
    group: 'Money',
    summary: 'Your balance, by currency',
    takes: {},
    answer: balancesSchema,
    handle: async ({ db }, store) => ok(await readBalances(db, store.id)),
  }),
  operation({
    id: 'getStatement',
    method: 'GET',
    path: '/v1/statement',
    scope: 'balance:read',
    group: 'Money',
    summary: 'Every movement of your balance',
    takes: { query: statementQuerySchema },
    answer: statementSchema,
    async handle({ db }, store, { query }) {
      if (query.after !== undefined && !(await isMovementOf(db, store.id, { ...query, id: query.after }))) {
        refuse('invalid_request', [
          { path: 'after', message: 'is not a movement of this statement: read it again without after' },
        ])
      }
      return ok(await readStatement(db, store.id, query))
    },
  }),
  operation({
    id: 'getReport',
    method: 'GET',
    path: '/v1/report',
    scope: 'balance:read',
    // A report of a large store keeps a connection for seconds.
    atATime: { inAll: 2, ofStore: 1 },
    group: 'Money',
    summary: 'What was booked in a period',
    description:
      'The sums of the movements of all your deposits, payouts and adjustments, as the statement lists them. A movement can appear a moment late, so read a period no earlier than a minute after its end.',
    takes: { query: reportQuerySchema },
    answer: reportSchema,
    async handle({ db }, store, { query }) {
      const [from, before] = [new Date(query.from), new Date(query.before)]
      const lengthMs = before.getTime() - from.getTime()
      if (lengthMs <= 0 || lengthMs > LONGEST_REPORT.days * DAY_MS + LONGEST_REPORT.hours * HOUR_MS) {
        const message = `must be later than \`from\`, by at most ${LONGEST_REPORT_TEXT}`
        refuse('invalid_request', [{ path: 'before', message }])
      }
      return ok({ days: await readDays(db, store.id, { from, before }) })
    },
  }),
]
