/** Random shoppers on a network that loses, delays and reorders calls: the entire flow, on a fake clock. */
import fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { GAMES, type Game } from '../../contract/games.ts'
import { type DepositStatus, isFinal } from '../../contract/statuses.ts'
import type { Inventory, Payment } from '../../contract/widget-api.ts'
import { wait } from '../wait.ts'
import { createApi } from './api.ts'
import { propose } from './pick.ts'
import { type RunningFlow, startFlow } from './runner.ts'
import { isPolling, shownInventory } from './selectors.ts'
import { type FlowState, SORTS } from './state.ts'
import { Expected, idsIn } from './test-expected.ts'
import { inventory, item, LINK, OTHER_LINK, opening, payment, USER } from './test-states.ts'

/** A new link of the account of LINK, as after Steam has replaced it. */
const RENEWED_LINK = `${USER.tradeUrl}&token=renewed1`

afterEach(() => {
  vi.useRealTimers()
})

/** A call under way; the test answers it with the gateway's answer or with a different one. */
type OpenCall = { path: string; answer(response?: Response): void; lose(): void }

/** The final statuses that the move `end` can set after each status. */
const ENDS: Record<'created' | 'pending', readonly DepositStatus[]> = {
  created: ['paymentTimeout'],
  pending: ['succeeded', 'tradeDeclined', 'tradeTimeout'],
}
/** An answer whose status has a lower number is older. */
const ORDER: Record<DepositStatus, number> = {
  created: 0,
  pending: 1,
  paymentTimeout: 2,
  tradeTimeout: 2,
  tradeDeclined: 2,
  tradeCountered: 2,
  tradeHasInvalidItems: 2,
  succeeded: 3,
}

const ITEM_IDS = ['1', '2', '3', '4', '5', '6']

/** A gateway with one deposit, whose `id` counts its changes. The `quoteId` of an inventory counts the inventories. */
class Gateway {
  deposit: Payment = payment({ user: null, id: '1' })
  previous: Payment = this.deposit
  inventoryCount = 0
  /** The items that the next inventories lack. */
  gone: readonly string[] = []
  refusesTrades = false
  /** The body of the request whose offer is under way. */
  requestBody = ''
  offerCount = 0

  change(change: Partial<Payment>): void {
    this.previous = this.deposit
    this.deposit = { ...this.deposit, ...change, id: String(Number(this.deposit.id) + 1) }
  }

  reply(path: string, body: string, knownEtag: string | null): Response {
    const query = new URL(path, 'https://till.example').searchParams
    switch (path.split('?')[0]) {
      case '/api/payment':
        return this.paymentReply(this.deposit, knownEtag)
      case '/api/trade-url': {
        const tradeUrl = String(JSON.parse(body).tradeUrl).replace(/&token=.*/, '')
        this.deposit = { ...this.deposit, user: { ...USER, tradeUrl } }
        return Response.json(this.deposit.user)
      }
      case '/api/inventory':
        return Response.json(this.inventoryOf(query.get('game'), query.get('language')))
      default:
        return this.tradeReply(body)
    }
  }

  paymentReply(deposit: Payment, knownEtag: string | null): Response {
    const etag = `"${deposit.id}"`
    if (knownEtag === etag) return new Response(null, { status: 304 })
    return Response.json(deposit, { headers: { etag } })
  }

  inventoryOf(game: string | null, language: string | null): Inventory {
    this.inventoryCount += 1
    const items = ITEM_IDS.filter((id) => !this.gone.includes(id)).map((id) =>
      item(`${game} ${id}`, 200, `${game} ${id} ${language}`),
    )
    return inventory(items, { quoteId: String(this.inventoryCount) })
  }

  /** Idempotent: a request for the same items joins the offer under way. */
  tradeReply(body: string): Response {
    const refused = (code: string) => Response.json({ code, detail: code }, { status: 409 })
    if (this.deposit.status === 'pending') {
      return body === this.requestBody ? Response.json({ state: 'active' }) : refused('trade_in_progress')
    }
    if (this.deposit.status !== 'created') return refused('deposit_closed')
    if (this.refusesTrades) return refused('trade_refused')
    this.requestBody = body
    this.offerCount += 1
    this.change({ status: 'pending', timeLeft: 7200 })
    return Response.json({ state: 'active' })
  }
}

/** How long an aborted call takes to fail. */
const ABORT_MS = 500

/**
 * `payments`: number of payment calls. `trades`: bodies of trade calls. `forbidden`: calls that the page must not make.
 * `answersAtOnce`: no call stays open.
 */
type Line = {
  openCalls: OpenCall[]
  payments: number
  trades: string[]
  forbidden: string[]
  answersAtOnce: boolean
}

/** The transport: the gateway answers each call when it is made; the answer arrives when the test says so. */
function lineTo(gateway: Gateway, flowOf: () => RunningFlow | undefined) {
  const line: Line = { openCalls: [], payments: 0, trades: [], forbidden: [], answersAtOnce: false }
  const fetcher: typeof fetch = (input, init) => {
    const path = String(input)
    const body = String(init?.body ?? '')
    const knownEtag = new Headers(init?.headers).get('if-none-match')
    const reply = gateway.reply(path, body, knownEtag)
    const state = flowOf()?.state()
    if (path.startsWith('/api/payment')) {
      line.payments += 1
      if (state !== undefined && !mayAskPayment(state)) line.forbidden.push(`asked in ${state.modal.kind}`)
    }
    if (path === '/api/trade') line.trades.push(body)
    if (line.answersAtOnce) return Promise.resolve(reply)
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    // An aborted call fails a little later. An answer before then must have no effect.
    const { signal } = init ?? {}
    signal?.addEventListener('abort', () =>
      wait(ABORT_MS, new AbortController().signal).then(() => reject(signal.reason)),
    )
    line.openCalls.push({
      path,
      answer: (response = reply) => resolve(response),
      lose: () => reject(new TypeError('network')),
    })
    return promise
  }
  return { line, fetcher }
}

/** False, for example, while the shopper picks items. The move `leave` checks that leaving an open offer ends the polls. */
const mayAskPayment = (state: FlowState): boolean =>
  state.page.stage === 'none' ||
  state.page.stage === 'failed' ||
  isPolling(state) ||
  state.isCheckDue ||
  state.isPollFailing ||
  state.hasLeftOffer ||
  state.payment?.status === 'pending'

type World = { flow: RunningFlow; gateway: Gateway; line: Line; expected: Expected }

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

const MOVES = {
  answer: ({ line }, pick) => takeCall(line, pick)?.answer(),
  answerFirst: ({ line }) => takeCall(line, 0)?.answer(),
  answerLast: ({ line }) => takeCall(line, line.openCalls.length - 1)?.answer(),
  lose: ({ line }, pick) => takeCall(line, pick)?.lose(),
  answerBroken: ({ line }, pick) => takeCall(line, pick)?.answer(new Response('', { status: 500 })),
  answerFromBefore: ({ line, gateway }, pick) => {
    const index = line.openCalls.findIndex(({ path }) => path.startsWith('/api/payment'))
    if (index >= 0 && pick % 2 === 0)
      takeCall(line, index)?.answer(gateway.paymentReply(gateway.previous, null))
  },
  tick: (_world, pick) => pass([10, 700, 1000, 2000][pick % 4] ?? 0),
  link: ({ flow }, pick) =>
    flow.dispatch({
      kind: 'linkTyped',
      text: [LINK, OTHER_LINK, `${LINK}.`, '', RENEWED_LINK][pick % 5] ?? '',
    }),
  game: ({ flow, expected }, pick) => {
    const { page } = flow.state()
    const game = GAMES[pick % GAMES.length] ?? 'cs'
    if (page.stage === 'wait-for-select-items' && page.stand.game !== game) {
      expected.elsewhere.set(page.stand.game, expected.picked)
      expected.picked = expected.elsewhere.get(game) ?? []
    }
    flow.dispatch({ kind: 'gameChosen', game })
  },
  language: ({ flow }, pick) =>
    flow.dispatch({ kind: 'languageChosen', language: pick % 2 === 0 ? 'en' : 'ru' }),
  toggle: ({ flow, expected }, pick) => {
    const { page } = flow.state()
    const items = page.stage === 'wait-for-select-items' ? (shownInventory(page.stand)?.items ?? []) : []
    const id = items[pick % Math.max(items.length, 1)]?.id
    if (id === undefined) return
    expected.picked = expected.picked.includes(id)
      ? expected.picked.filter((other) => other !== id)
      : [...expected.picked, id]
    flow.dispatch({ kind: 'itemToggled', id })
  },
  clear: ({ flow, expected }) => {
    if (flow.state().page.stage === 'wait-for-select-items') expected.picked = []
    flow.dispatch({ kind: 'selectionCleared' })
  },
  search: ({ flow }, pick) => flow.dispatch({ kind: 'searchTyped', text: ['', 'a', '3'][pick % 3] ?? '' }),
  sort: ({ flow }, pick) => flow.dispatch({ kind: 'sortChosen', sort: SORTS[pick % 3] ?? 'default' }),
  reload: ({ flow }) => flow.dispatch({ kind: 'reloadPressed' }),
  pay: ({ flow, expected }) => {
    const modalBefore = flow.state().modal.kind
    expected.pressedWith = modalBefore === 'none' ? expected.picked : expected.pressedWith
    flow.dispatch({ kind: 'payPressed' })
  },
  leave: async ({ flow, line }) => {
    const wasConfirming = flow.state().modal.kind === 'confirming'
    const { payments } = line
    flow.dispatch({ kind: 'confirmationLeft' })
    if (!wasConfirming || flow.state().isPollFailing) return
    await pass(3000)
    expect(line.payments, 'a poll after leaving').toBe(payments)
  },
  reopen: ({ flow }) => flow.dispatch({ kind: 'confirmationReopened' }),
  close: ({ flow }) => flow.dispatch({ kind: 'creationErrorClosed' }),
  retry: ({ flow }) => flow.dispatch({ kind: 'retryPressed' }),
  offline: ({ flow }, pick) => flow.dispatch({ kind: 'connectionChanged', isOnline: pick % 2 === 0 }),
  return: ({ flow }) => flow.returned(),
  end: ({ gateway }, pick) => {
    const { status } = gateway.deposit
    if (status !== 'created' && status !== 'pending') return
    // Most values of `pick` end nothing, so the deposit lives for a while.
    const finalStatus = ENDS[status][pick]
    if (finalStatus !== undefined) gateway.change({ status: finalStatus, timeLeft: null })
  },
  sell: ({ gateway }, pick) => {
    gateway.gone = pick % 2 === 0 ? [] : [ITEM_IDS[pick % 6] ?? '1']
  },
  refuse: ({ gateway }) => {
    gateway.refusesTrades = !gateway.refusesTrades
  },
} satisfies Record<string, (world: World, pick: number) => unknown>

const takeCall = (line: Line, at: number): OpenCall | undefined =>
  line.openCalls.splice(at % Math.max(line.openCalls.length, 1), 1)[0]

/** `pick`: a number from 0 to 11 by which the move chooses. */
type Move = { kind: keyof typeof MOVES; pick: number }

const KINDS = Object.keys(MOVES) as (keyof typeof MOVES)[]
const OFTEN = [
  'answerFirst',
  'answerFirst',
  'answerLast',
  'answer',
  'toggle',
  'toggle',
  'pay',
  'tick',
] as const

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS, ...OFTEN), pick: fc.nat(11) }),
  { maxLength: 45, size: 'max' },
)

/** The moves that lead to an open offer. The tick is long enough to end the typing; the toggles pick two items. */
const WAY_TO_OFFER: Move[] = [
  ...(['answerFirst', 'link', 'tick', 'answerFirst', 'answerFirst', 'toggle', 'toggle'] as const),
  ...(['pay', 'answerFirst', 'answerFirst', 'answerFirst'] as const),
].map((kind, index) => ({ kind, pick: kind === 'tick' || kind === 'toggle' ? index % 4 : 0 }))

/** The starting points: an empty page, the stand with two picks, a trade being created, an open offer. */
const starts = fc.constantFrom(0, 7, 8, WAY_TO_OFFER.length).map((steps) => WAY_TO_OFFER.slice(0, steps))

function openPage(): World {
  const gateway = new Gateway()
  let flow: RunningFlow | undefined
  const { line, fetcher } = lineTo(gateway, () => flow)
  flow = startFlow(opening(), {
    api: createApi(fetcher, () => 'csrf=token'),
    now: () => performance.now(),
    wait,
    perform: () => {},
    proposer: () => propose,
  })
  return { flow, gateway, line, expected: new Expected() }
}

function judge({ flow, line, gateway, expected }: World): void {
  const state = flow.state()
  expected.follow(state)
  expect(line.forbidden, 'a call that the page must not make').toEqual([])
  if (state.payment !== null) {
    expect(ORDER[state.payment.status], 'an older answer').toBeGreaterThanOrEqual(ORDER[expected.status])
    expected.status = state.payment.status
    expect(state.modal.kind === 'completed', 'the outcome').toBe(isFinal(state.payment.status))
  }
  for (const body of line.trades.splice(0)) {
    expect(JSON.parse(body).items.toSorted(), 'the items paid with').toEqual(expected.pressedWith.toSorted())
  }
  if (state.page.stage !== 'wait-for-select-items') return
  const { stand } = state.page
  const shown = shownInventory(stand)
  const shownIds = shown === null ? new Set<string>() : idsIn(shown)
  // Sorted, because picks that return come first.
  expect(stand.selection.toSorted(), 'the selection').toEqual(
    expected.picked.filter((id) => shownIds.has(id)).toSorted(),
  )
  if (shown === null) return
  expect(
    shown.items.filter(({ id }) => !isOfGame(stand.game, id)),
    'items of another game',
  ).toEqual([])
  const quote = Number(shown.quoteId)
  expect(quote, 'an older inventory').toBeGreaterThanOrEqual(expected.newestQuote)
  expected.newestQuote = quote
  if (stand.inventory.status === 'ready') expect(quote, 'a stale inventory').toBe(gateway.inventoryCount)
}

const isOfGame = (game: Game, id: string): boolean => id.startsWith(`${game} `)

/** The network works again, but calls that already hang never end. Within a second the page must be correct. */
async function comeBack({ flow, gateway, line }: World): Promise<void> {
  await pass(3000)
  gateway.refusesTrades = false
  line.answersAtOnce = true
  flow.dispatch({ kind: 'connectionChanged', isOnline: false })
  flow.dispatch({ kind: 'connectionChanged', isOnline: true })
  flow.returned()
  await pass(1000)
  const { page, modal, payment: shown } = flow.state()
  const { id, status } = gateway.deposit
  expect(shown, 'the deposit').toMatchObject({ id, status })
  if (isFinal(status)) expect(modal).toMatchObject({ kind: 'completed', outcome: status })
  else expect(status === 'pending' ? ['confirming', 'none'] : ['none', 'creationError']).toContain(modal.kind)
  expect(page.stage).toMatch(/^wait-for-/)
  if (page.stage === 'wait-for-trade-url-input') expect(page.link.status).toMatch(/^(idle|invalid)$/)
  if (page.stage === 'wait-for-select-items' && !isFinal(status))
    expect(page.stand.inventory.status).toBe('ready')
}

/** The gateway refuses the trade, and its answer arrives. Random runs do not always reach this case or `ENDED`. */
const REFUSED: [Move[], Move[]] = [
  WAY_TO_OFFER.slice(0, 7),
  (['refuse', 'pay', 'answerFirst'] as const).map((kind) => ({ kind, pick: 0 })),
]

/** The deposit ends, and a poll reports it after a tick of one second. */
const ENDED: [Move[], Move[]] = [
  WAY_TO_OFFER,
  (['end', 'tick', 'answerFirst'] as const).map((kind) => ({ kind, pick: kind === 'tick' ? 2 : 0 })),
]

/** The situations that the runs together must reach, or the test would prove nothing. */
const SITUATIONS = [
  ...['failed', 'wait-for-trade-url-input', 'wait-for-select-items'],
  ...['none', 'creating', 'confirming', 'completed', 'creationError'],
  ...['loading', 'ready', 'error', 'offline', 'outage', 'set aside'],
]

function situationsOf({ page, modal, isOnline, isPollFailing }: FlowState): string[] {
  const stand = page.stage === 'wait-for-select-items' ? page.stand : undefined
  return [
    ...[page.stage, modal.kind, stand?.inventory.status ?? ''],
    ...[isOnline ? '' : 'offline', isPollFailing ? 'outage' : '', stand?.setAside.length ? 'set aside' : ''],
  ]
}

it('A-061 A-071 D-23 D-27 for any shopper, gateway and network, the flow stays consistent and ends with the true state', async () => {
  vi.useFakeTimers()
  const seen = new Set<string>()
  const property = fc.asyncProperty(starts, moves, async (start, journey) => {
    const world = openPage()
    try {
      for (const { kind, pick } of [...start, ...journey]) {
        await MOVES[kind](world, pick)
        await pass(0)
        judge(world)
        for (const situation of situationsOf(world.flow.state())) seen.add(situation)
      }
      await comeBack(world)
      judge(world)
      // At most one offer for the deposit, no matter how many calls asked for one.
      expect(world.gateway.offerCount).toBeLessThanOrEqual(1)
    } finally {
      world.flow.stop()
    }
  })
  await fc.assert(property, { numRuns: 300, examples: [REFUSED, ENDED] })
  expect([...seen]).toEqual(expect.arrayContaining(SITUATIONS))
})
