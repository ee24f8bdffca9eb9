/** Answers to calls that fail inside the till. They must not reveal why: family 33. */
import { sql } from 'kysely'
import { type Family, family } from '../attack.ts'
import { type Ask, aBody, type Target } from '../target.ts'
import { mustReply, problemIf } from './checks.ts'

const PROBLEM = 'gateway/http/problem.ts'
/** Matches words that reveal something about the sources, the database or the machine. */
const REVEALING =
  /relation|column|select |insert |node_modules|gateway\/|\.ts\b|\.js\b|postgres|kysely|at async|stack/i

/** Calls of stores and of the page, each with a table that it needs. */
const callsOf = ({ victim, shoppers }: Target): [table: string, who: 'store' | 'page', ask: Ask][] => {
  const [id] = victim.depositIds
  const [shopper] = shoppers
  const hash = shopper?.hash ?? ''
  const tradeUrl = 'https://steamcommunity.com/tradeoffer/new/?partner=1&token=abcdefgh'
  return [
    ['deposit', 'store', { url: '/v1/deposits' }],
    ['deposit', 'store', { url: `/v1/deposits/${id}` }],
    ['deposit', 'store', { url: '/v1/deposits?status=created&limit=1' }],
    ['deposit', 'store', { url: '/v1/deposits', method: 'POST', body: aBody() }],
    ['deposit', 'store', { url: `/v1/deposits/${id}/cancel`, method: 'POST' }],
    ['event', 'store', { url: '/v1/events' }],
    ['event', 'store', { url: `/v1/deposits/${id}/events` }],
    ['account', 'store', { url: '/v1/balance' }],
    ['ledger_entry', 'store', { url: '/v1/statement?currency=USD' }],
    ['webhook_endpoint', 'store', { url: '/v1/webhook-endpoints' }],
    [
      'webhook_endpoint',
      'store',
      { url: '/v1/webhook-endpoints', method: 'POST', body: { url: 'https://hooks.test/x' } },
    ],
    ['deposit', 'page', { url: `/api/inventory?hash=${hash}&game=cs&language=en` }],
    ['deposit', 'page', { url: `/api/inventory?hash=${hash}&game=dota&language=ru` }],
    ['deposit', 'page', { url: '/api/trade-url', method: 'POST', body: { hash, tradeUrl } }],
    ['deposit', 'page', { url: '/api/trade', method: 'POST', body: { hash, game: 'cs', items: ['1'] } }],
  ]
}

/** Makes the call while its table is renamed, so it fails. */
async function askWithoutTable(target: Target, [table, who, ask]: ReturnType<typeof callsOf>[number]) {
  const { db } = target.till.deps
  const renamedTable = `${table}_away`
  await sql`alter table ${sql.table(table)} rename to ${sql.table(renamedTable)}`.execute(db)
  try {
    return await (who === 'store' ? target.callAsStore(ask) : target.callAsPage({ method: 'GET', ...ask }))
  } finally {
    await sql`alter table ${sql.table(renamedTable)} rename to ${sql.table(table)}`.execute(db)
  }
}

export const faults: Family = family({
  number: 33,
  name: 'errors that reveal too much',
  kind: 'till',
  defences: {
    'no details of faults': {
      at: `${PROBLEM} handleErrors`,
      off: [
        {
          file: PROBLEM,
          from: 'return sendProblem(reply, request, refusal)\n  })',
          to: "return refusal.code === 'internal' ? reply.code(500).send({ detail: error.message, stack: error.stack }) : sendProblem(reply, request, refusal)\n  })",
        },
      ],
    },
  },
  honest: (target) => mustReply(target.callAsStore({ url: '/v1/deposits' }), 200),
  cases: (target) =>
    callsOf(target).map(([table, who, ask]) => ({
      what: `${ask.method ?? 'GET'} ${ask.url.replace(/[0-9a-f]{32}/, 'HASH')} without the table ${table}`,
      stoppedBy: 'no details of faults' as const,
      async attack() {
        const { statusCode, body } = await askWithoutTable(target, [table, who, ask])
        if (statusCode < 500) return `answered ${statusCode}, so nothing failed: ${body.slice(0, 100)}`
        return problemIf(REVEALING.test(body), `says ${body.slice(0, 100)}`)
      },
    })),
})
