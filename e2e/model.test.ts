/** Random shoppers on the real page, with a server that answers late, out of order, or not at all. */
import fc from 'fast-check'
import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Game } from '../contract/games.ts'
import { type DepositStatus, isFinal } from '../contract/statuses.ts'
import type { Inventory, Payment } from '../contract/widget-api.ts'
import { HASH, inventory, item, LINK, payment, USER } from '../widget/flow/test-states.ts'
import { openBrowser, till } from './support/shared-till.ts'

/** A picture of this till, because the page may load no other pictures. */
const PICTURE = `${till.gateway}/icon.svg`

const SHOPPER = { ...USER, avatarUrl: PICTURE }

const ITEMS_PER_GAME = 12

/** How many shoppers the test plays. */
const SHOPPERS = Number(process.env.PROOF_SHOPPERS ?? 4)

type PendingAnswer = { path: string; answer(): Promise<void> }

/** A server whose answers are fixed when the call arrives, and sent when the test decides. */
class Server {
  payment: Payment = payment({ user: null })
  previous: Payment = this.payment
  /** True if the next answer about the deposit must be from before its last change. */
  isBehind = false
  isFailing = false
  isRefusing = false
  /** True while answers about inventories and deposits wait for `sendWaiting`. */
  isDelaying = false
  waiting: PendingAnswer[] = []
  inventoryCalls = 0

  change(change: Partial<Payment>): void {
    this.previous = this.payment
    this.payment = { ...this.payment, ...change }
  }

  async handle(route: Route): Promise<void> {
    const url = new URL(route.request().url())
    const path = url.pathname
    const response = this.answerTo(path, url)
    const answer = (): Promise<void> => route.fulfill(response).catch(() => {})
    if (!this.isDelaying || (path !== '/api/inventory' && path !== '/api/payment')) return answer()
    this.waiting.push({ path, answer })
  }

  async sendWaiting(at: number): Promise<void> {
    const [call] = this.waiting.splice(at, 1)
    await call?.answer()
  }

  answerTo(path: string, url: URL): Parameters<Route['fulfill']>[0] {
    if (this.isFailing && path !== '/api/payment') return { status: 500, body: '' }
    switch (path) {
      case '/api/payment': {
        const isAnswerBehind = this.isBehind && this.payment.user !== null
        this.isBehind = false
        return { json: isAnswerBehind ? { ...this.previous, user: SHOPPER } : this.payment }
      }
      case '/api/trade-url':
        this.payment = { ...this.payment, user: SHOPPER }
        return { json: SHOPPER }
      case '/api/inventory':
        return { json: this.inventoryFor(url.searchParams.get('game') as Game) }
      case '/api/trade':
        return this.trade()
      default:
        return { status: 204 }
    }
  }

  trade() {
    if (this.isRefusing) return { status: 422, json: { code: 'trade_refused' } }
    if (this.payment.status !== 'created') return { status: 409, json: { code: 'deposit_closed' } }
    this.change({ status: 'pending', timeLeft: 3600, acceptUrl: till.sandbox })
    return { json: { state: 'active' } }
  }

  /** Items whose names contain the game, the item's number, and the number of the call. */
  inventoryFor(game: Game): Inventory {
    this.inventoryCalls += 1
    const items = Array.from({ length: ITEMS_PER_GAME }, (_, index) => ({
      ...item(`${game}-${index}`, 350 + index, `${game} ${index} #${this.inventoryCalls}`),
      iconUrl: PICTURE,
    }))
    return inventory(items)
  }
}

/** Runs in the page: checks the document after each change, and counts the page's polls. */
function watch(): void {
  const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)]
  const wrong = new Set<string>()
  let newest = 0
  let hasOutcome = false
  const check = (): void => {
    const names = all('.card-name').map((name) => name.textContent ?? '')
    const game = document.querySelector<HTMLInputElement>('.game input:checked')?.value
    const callOfEachItem = names.map((name) => Number(name.split('#')[1]))
    const counted = Number(all('.summary-facts dd')[1]?.textContent ?? 0)
    const ended = all('dialog[open]:not(.dialog-refused) a.primary').length > 0
    if (all('dialog[open]').length > 1) wrong.add('two dialogs')
    // The guide, the items, a placeholder while the code of either loads, or the message that it could not be loaded.
    const mainAreaSelector = '.guide, .skeleton-guide, .stand, .summary-room, main > .empty[role=alert]'
    const mainAreaCount = all(mainAreaSelector).length
    if (all('.link-panel').length > 0 && mainAreaCount !== 1) wrong.add('not exactly one main area')
    if (names.some((name) => !name.startsWith(`${game} `))) wrong.add('items of another game')
    if (callOfEachItem.some((call) => call < newest)) wrong.add('an inventory older than the last one')
    if (all('.summary-item').length !== counted) wrong.add('a wrong count of items')
    if (all('.empty[role=alert]').length > 0 && names.length > 0) wrong.add('items next to an error')
    if (hasOutcome && all('.dialog-outcome').length === 0) wrong.add('an outcome that disappeared')
    newest = Math.max(newest, ...callOfEachItem)
    hasOutcome ||= ended && all('.dialog-confirmation').length === 0
  }
  const seen = { wrong, polls: 0 }
  Reflect.set(window, 'seen', seen)
  const { fetch } = window
  window.fetch = (input, init) => {
    if (String(input).startsWith('/api/payment')) seen.polls += 1
    return fetch(input, init)
  }
  new MutationObserver(check).observe(document, { childList: true, subtree: true, characterData: true })
}

type PageState = {
  wrong: string[]
  polls: number
  /** Names of the selected items, without the call's number; null while the page shows no inventory. */
  selected: string[] | null
  isConfirming: boolean
  hasEnded: boolean
  callOfEachItem: number[]
  hasFailed: boolean
}

const readState = (page: Page): Promise<PageState> =>
  page.evaluate(() => {
    const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)]
    const plain = (name: string) => name.split(' #')[0] ?? ''
    const { wrong, polls } = Reflect.get(window, 'seen') as { wrong: Set<string>; polls: number }
    const isShown = /\d/.test(all('.summary-facts dd')[0]?.textContent ?? '')
    return {
      wrong: [...wrong],
      polls,
      selected: isShown ? all('.summary-item').map(({ title }) => plain(title)) : null,
      isConfirming: all('.dialog-confirmation .step-back').length > 0,
      hasEnded:
        all('dialog[open]:not(.dialog-refused) a.primary').length > 0 &&
        all('.dialog-confirmation').length === 0,
      callOfEachItem: all('.card-name').map((name) => Number(name.textContent?.split('#')[1])),
      hasFailed: all('.empty[role=alert]').length > 0,
    }
  })

/** Presses the element. Resolves to its value or card name; null if no such element is there and enabled. */
const press = (page: Page, selector: string, index = 0): Promise<string | null> =>
  page.evaluate(
    ([wanted, at]) => {
      const dialog = document.querySelector('dialog[open]')
      const pressable = [...document.querySelectorAll<HTMLElement>(wanted)].filter(
        (element) => (dialog === null || dialog.contains(element)) && !element.matches(':disabled'),
      )
      const element = pressable[at % Math.max(pressable.length, 1)]
      element?.click()
      if (element instanceof HTMLInputElement) return element.value
      return element === undefined ? null : (element.querySelector('.card-name')?.textContent ?? '')
    },
    [selector, index] as const,
  )

/** Types into a field or selects in a list, with the events that React needs. Resolves to false if nothing changed. */
const put = (page: Page, selector: string, text: string): Promise<boolean> =>
  page.evaluate(
    ([wanted, value]) => {
      const field = document.querySelector<HTMLInputElement | HTMLSelectElement>(wanted)
      if (field === null || document.querySelector('dialog[open]') !== null) return false
      if (field.matches(':read-only:not(select)') || field.value === value) return false
      const prototype = field instanceof HTMLSelectElement ? HTMLSelectElement : HTMLInputElement
      Object.getOwnPropertyDescriptor(prototype.prototype, 'value')?.set?.call(field, value)
      field.dispatchEvent(
        new Event(field instanceof HTMLSelectElement ? 'change' : 'input', { bubbles: true }),
      )
      return true
    },
    [selector, text] as const,
  )

/** The state of the shopper as the test expects it, independent of the page. */
type Shopper = {
  page: Page
  server: Server
  picked: string[]
  /** The picks of the other games, by game. The page restores them when the shopper comes back to a game. */
  picksOfOtherGames: Map<string, string[]>
  /** The items of the last press on Add funds. A page that is opened again without other picks begins with them. */
  offered: string[]
}

/** `pick`: a number from 0 to 11 that decides what an action chooses. */
const ACTIONS = {
  /** Every link is the same account's, so the picks come back with it. */
  link: async ({ page }, pick) => {
    const text = [LINK, LINK, `${LINK}.`, ''][pick % 4] ?? ''
    await put(page, '.link-input input', text)
    await page.clock.runFor(700)
  },
  game: async (shopper, pick) => {
    const [gameBefore] = await shopper.page
      .locator('.game input:checked')
      .evaluateAll((elements) => elements.map((each) => (each as HTMLInputElement).value))
    const chosen = await press(shopper.page, '.game input:not(:checked)', pick)
    if (gameBefore === undefined || chosen === null) return
    shopper.picksOfOtherGames.set(gameBefore, shopper.picked)
    shopper.picked = shopper.picksOfOtherGames.get(chosen) ?? []
  },
  language: ({ page }, pick) => press(page, '.language-choice', pick),
  toggle: async (shopper, pick) => {
    const name = (await press(shopper.page, '.card', pick))?.split(' #')[0]
    if (name === undefined) return
    const { picked } = shopper
    shopper.picked = picked.includes(name) ? picked.filter((other) => other !== name) : [...picked, name]
  },
  search: ({ page }, pick) => put(page, '.search input', pick < 3 ? '' : String(pick)),
  sort: ({ page }, pick) =>
    put(page, '.sort select', ['default', 'priceDown', 'priceUp'][pick % 3] ?? 'default'),
  reloadInventory: ({ page }) => press(page, '.controls > button:last-of-type'),
  retry: ({ page }) => press(page, '.empty[role=alert] button.primary'),
  clear: async (shopper) => {
    if ((await press(shopper.page, '.quiet-button')) !== null) shopper.picked = []
  },
  pay: async (shopper) => {
    if ((await press(shopper.page, '.pay:not([aria-disabled=true])')) !== null)
      shopper.offered = shopper.picked
  },
  leave: async ({ page }) => {
    if ((await press(page, '.step-back')) === null) return
    const { polls } = await readState(page)
    await page.clock.runFor(3000)
    expect((await readState(page)).polls, 'polls after leaving').toBe(polls)
  },
  backToOffer: ({ page }) => press(page, '.notice button'),
  closeError: ({ page }) => press(page, '.dialog-refused button'),
  tick: ({ page }) => page.clock.runFor(1000),
  end: ({ server }, pick) => {
    const { status } = server.payment
    const ends: DepositStatus[] = ['tradeDeclined', 'tradeTimeout', 'succeeded']
    const end = status === 'pending' ? ends[pick] : undefined
    if (end !== undefined) server.change({ status: end, timeLeft: null })
  },
  fail: ({ server }) => {
    server.isFailing = !server.isFailing
  },
  older: ({ server }) => {
    server.isBehind = true
  },
  refuse: ({ server }) => {
    server.isRefusing = !server.isRefusing
  },
  delay: ({ server }) => {
    server.isDelaying = true
  },
  sendNewest: ({ server }) => server.sendWaiting(server.waiting.length - 1),
  sendAny: ({ server }, pick) => server.sendWaiting(pick % Math.max(server.waiting.length, 1)),
  /** Restores the connection and the server. The page gives up calls that hung. */
  recover: async ({ page, server }) => {
    Object.assign(server, { isFailing: false, isRefusing: false, isDelaying: false, isBehind: false })
    await page.clock.runFor(1000)
    await page.evaluate(() => {
      for (const type of ['offline', 'online']) window.dispatchEvent(new Event(type))
    })
    await page.clock.runFor(700)
  },
  connection: ({ page }, pick) =>
    page.evaluate((type) => window.dispatchEvent(new Event(type)), pick % 2 === 0 ? 'offline' : 'online'),
  reloadPage: async (shopper) => {
    await shopper.page.reload()
    const picks = [shopper.picked, ...shopper.picksOfOtherGames.values()]
    if (picks.every(({ length }) => length === 0)) shopper.picked = shopper.offered
  },
} satisfies Record<string, (shopper: Shopper, pick: number) => unknown>

type Kind = keyof typeof ACTIONS
type Action = { kind: Kind; pick: number }

/** The shopper's actions while picking, and failures. `pay` may make an offer. Each entry once, in random order. */
const AT_STAND: Kind[] = [
  'link',
  'game',
  'language',
  'toggle',
  'toggle',
  'search',
  'sort',
  'reloadInventory',
  'retry',
  'clear',
  'fail',
  'delay',
  'sendNewest',
  'sendAny',
  'connection',
  'toggle',
  'pay',
  'closeError',
  'refuse',
]
/** The events after the last press on Add funds, in random order too. */
const AT_OFFER: Kind[] = [
  'tick',
  'leave',
  'backToOffer',
  'older',
  'tick',
  'end',
  'tick',
  'delay',
  'sendAny',
  'connection',
]

const inRandomOrder = (kinds: Kind[]): fc.Arbitrary<Action[]> =>
  fc
    .tuple(
      fc.shuffledSubarray(kinds, { minLength: kinds.length }),
      fc.array(fc.nat(11), { minLength: kinds.length, maxLength: kinds.length }),
    )
    .map(([shuffled, picks]) => shuffled.map((kind, index) => ({ kind, pick: picks[index] ?? 0 })))

const actions = (kinds: Kind[]): Action[] => kinds.map((kind, pick) => ({ kind, pick }))

/** Picks two items and does the actions at the stand, may reload the page, then makes an offer and does its actions. */
const visits: fc.Arbitrary<Action[]> = fc
  .tuple(inRandomOrder(AT_STAND), inRandomOrder(AT_OFFER), fc.subarray<Kind>(['reloadPage']))
  .map(([atStand, atOffer, reloadPage]) => [
    ...actions(['toggle', 'toggle']),
    ...atStand,
    ...actions([...reloadPage, 'recover', 'closeError', 'toggle', 'pay', 'tick']),
    ...atOffer,
  ])

async function judge({ page, picked }: Shopper): Promise<void> {
  const { wrong, selected } = await readState(page)
  expect(wrong, 'contradictions').toEqual([])
  if (selected !== null) expect(selected, 'picked items').toEqual(picked)
}

/** Restores connection and server, and expects the page to show the server's state. */
async function expectRecovery(shopper: Shopper): Promise<void> {
  const { page, server } = shopper
  await ACTIONS.recover(shopper)
  const { status } = server.payment
  await expect
    .poll(async () => {
      const seen = await readState(page)
      const isNewest = seen.callOfEachItem.every((call) => call === server.inventoryCalls)
      return {
        hasEnded: seen.hasEnded,
        hasFailed: seen.hasFailed,
        isNewest,
        isConfirming: seen.isConfirming && status !== 'pending',
      }
    })
    .toEqual({ hasEnded: isFinal(status), hasFailed: false, isNewest: true, isConfirming: false })
}

test('A-059 A-061 A-071 D-27 the page never contradicts itself, in any order of actions and answers', async () => {
  const { page, context } = await openBrowser()
  let server = new Server()
  await context.route('**/api/**', (route) => server.handle(route))
  await context.addInitScript(watch)
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000)
  const property = fc.asyncProperty(visits, async (visit) => {
    server = new Server()
    const shopper = { page, server, picked: [], picksOfOtherGames: new Map<string, string[]>(), offered: [] }
    await page.goto(`${till.gateway}/help`)
    await page.evaluate(() => {
      localStorage.clear()
      sessionStorage.clear()
    })
    await page.goto(`${till.gateway}/deposit/${HASH}`)
    await page.locator('.link-input input').waitFor()
    await ACTIONS.link(shopper, 0)
    await page.locator('.card').first().waitFor()
    for (const { kind, pick } of visit) {
      await ACTIONS[kind](shopper, pick)
      await judge(shopper)
    }
    await expectRecovery(shopper)
    await judge(shopper)
  })
  await fc.assert(property, { numRuns: SHOPPERS, endOnFailure: true })
})
