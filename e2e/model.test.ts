/** Random shoppers at the real page, and a server that answers as it likes: the page never contradicts itself. */
import fc from 'fast-check'
import type { Page, Route } from 'playwright-core'
import { expect, test } from 'vitest'
import { GAMES, type Game } from '../contract/games.ts'
import type { Inventory, Payment } from '../contract/widget-api.ts'
import { HASH, inventory, item, LINK, payment, USER } from '../widget/flow/given.ts'
import { openBrowser, till } from './stage.ts'

const ACTS = [
  'clearLink',
  'giveLink',
  'badLink',
  'game',
  'game',
  'language',
  'toggle',
  'toggle',
  'toggle',
  'search',
  'sort',
  'reload',
  'clear',
  'pay',
  'pay',
  'stepBack',
  'comeBack',
  'end',
  'closeError',
  'fail',
  'refuse',
  'offline',
  'reopen',
] as const

type Act = { kind: (typeof ACTS)[number]; pick: number }

const acts: fc.Arbitrary<Act[]> = fc.array(fc.record({ kind: fc.constantFrom(...ACTS), pick: fc.nat(11) }), {
  minLength: 14,
  maxLength: 14,
})

/** Only pictures of this page may be shown. */
const SHOPPER = { ...USER, avatarUrl: `${till.gateway}/icon.svg` }

/** The server as the page sees it. */
class Server {
  payment: Payment = payment({ user: null })
  failing = false
  refusing = false
  polls = 0

  stockOf(game: Game): Inventory {
    return inventory(
      Array.from({ length: 12 }, (_, index) =>
        item(`${GAMES.indexOf(game) + 1}${index}`, 350 + index, `${game} ${index}`),
      ),
    )
  }

  async answer(route: Route): Promise<void> {
    const url = new URL(route.request().url())
    if (this.failing && url.pathname !== '/api/payment') return route.fulfill({ status: 500, body: '' })
    switch (url.pathname) {
      case '/api/payment':
        this.polls += 1
        return route.fulfill({ json: this.payment })
      case '/api/trade-url':
        this.payment = { ...this.payment, user: SHOPPER }
        return route.fulfill({ json: SHOPPER })
      case '/api/inventory':
        return route.fulfill({ json: this.stockOf(url.searchParams.get('game') as Game) })
      case '/api/trade':
        if (this.refusing) return route.fulfill({ status: 422, json: { code: 'trade_refused' } })
        this.payment = { ...this.payment, status: 'pending', timeLeft: 300, acceptUrl: till.sandbox }
        return route.fulfill({ json: { state: 'active' } })
      default:
        return route.fulfill({ status: 204 })
    }
  }
}

type Seen = {
  dialogs: string[]
  guide: boolean
  stand: boolean
  game: string | undefined
  names: string[]
  selected: number
  counted: number
  polling: boolean
  failed: boolean
}

const look = (page: Page): Promise<Seen> =>
  page.evaluate(() => {
    const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)]
    const chosen = document.querySelector<HTMLInputElement>('.game input:checked')
    return {
      dialogs: all('dialog[open]').map((dialog) => dialog.className),
      guide: all('.guide').length > 0,
      stand: all('.stand').length > 0,
      game: chosen?.value,
      names: all('.card-name').map((name) => name.textContent ?? ''),
      selected: all('.summary-item').length,
      counted: Number(all('.summary-facts dd')[1]?.textContent ?? 0),
      polling: all('.dialog-confirmation').length > 0,
      failed: all('.empty[role=alert]').length > 0,
    }
  })

/** Presses what is there to be pressed; what is not there is left alone. */
async function press(page: Page, selector: string, index = 0): Promise<boolean> {
  return page.evaluate(
    ([wanted, at]) => {
      const dialog = document.querySelector('dialog[open]')
      const found = [...document.querySelectorAll<HTMLElement>(wanted)].filter(
        (element) => dialog === null || dialog.contains(element),
      )
      const element = found[at % Math.max(found.length, 1)]
      element?.click()
      return element !== undefined
    },
    [selector, index] as const,
  )
}

async function write(page: Page, selector: string, text: string): Promise<void> {
  const field = page.locator(selector)
  if ((await page.locator('dialog[open]').count()) === 0 && (await field.count()) === 1) {
    await field.fill(text, { timeout: 2000 }).catch(() => {})
  }
}

async function choose(page: Page, selector: string, value: string): Promise<void> {
  if ((await page.locator('dialog[open]').count()) > 0) return
  const select = page.locator(selector)
  if ((await select.count()) === 1) await select.selectOption(value)
}

async function perform(page: Page, server: Server, { kind, pick }: Act): Promise<void> {
  switch (kind) {
    case 'giveLink':
      return write(page, '.link-input input', LINK)
    case 'badLink':
      return write(page, '.link-input input', `${LINK}.`)
    case 'clearLink':
      if (pick < 4) await press(page, '.link-input button')
      return
    case 'game':
      await press(page, '.game input', pick)
      return
    case 'language':
      return choose(page, '.language select', pick % 2 === 0 ? 'en' : 'ru')
    case 'toggle':
      await press(page, '.card', pick)
      return
    case 'search':
      return write(page, '.search input', pick < 6 ? '' : String(pick))
    case 'sort':
      return choose(page, '.sort select', ['default', 'priceDown', 'priceUp'][pick % 3] ?? 'default')
    case 'reload':
      await press(page, '.controls > button:last-of-type')
      return
    case 'clear':
      await press(page, '.quiet-button')
      return
    case 'pay':
      await press(page, '.pay')
      return
    case 'stepBack':
      await press(page, '.step-back')
      return
    case 'comeBack':
      await press(page, '.notice button')
      return
    case 'closeError':
      if ((await page.locator('.dialog-outcome .primary').count()) > 0)
        await press(page, 'dialog button.primary')
      return
    case 'end':
      if (server.payment.status === 'pending' && pick < 4) {
        server.payment = { ...server.payment, status: 'tradeDeclined', timeLeft: null }
      }
      return
    case 'fail':
      server.failing = !server.failing
      return
    case 'refuse':
      server.refusing = !server.refusing
      return
    case 'offline':
      await page.evaluate(
        (type) => window.dispatchEvent(new Event(type)),
        pick % 2 === 0 ? 'offline' : 'online',
      )
      return
    case 'reopen':
      await page.reload()
      return
    default:
      kind satisfies never
  }
}

/** Looks until the page has come to rest on something that holds together. */
async function expectSound(page: Page, server: Server): Promise<void> {
  await expect
    .poll(
      async () => {
        const seen = await look(page)
        const wrong: string[] = []
        if (seen.dialogs.length > 1) wrong.push('two dialogs')
        if (seen.guide === seen.stand) wrong.push('neither or both of guide and stand')
        if (seen.names.some((name) => !name.startsWith(`${seen.game} `))) wrong.push('items of another game')
        if (seen.selected !== seen.counted) wrong.push('a lost selection')
        const { status } = server.payment
        const outcome = seen.dialogs.some((dialog) => dialog.includes('dialog-outcome'))
        if (seen.polling && status !== 'pending' && !(status === 'created' && server.failing)) {
          wrong.push('a confirmation of nothing')
        }
        if (outcome && status === 'pending' && !server.refusing) wrong.push('an end before the end')
        if (seen.failed && seen.names.length > 0) wrong.push('items beside an error')
        return wrong
      },
      { timeout: 10_000, interval: 50 },
    )
    .toEqual([])
}

test('A-059 A-061 A-071 whatever shopper and server do, the page holds together', async () => {
  const { page, context } = await openBrowser()
  let server = new Server()
  await context.route('**/api/**', (route) => server.answer(route).catch(() => {}))
  await fc.assert(
    fc.asyncProperty(acts, async (row) => {
      server = new Server()
      await page.goto(`${till.gateway}/help`)
      await page.evaluate(() => localStorage.clear())
      await page.goto(`${till.gateway}/deposit/${HASH}`)
      await page.locator('.link-input input').fill(LINK)
      await page.locator('.card').first().waitFor()
      for (const act of row) {
        await perform(page, server, act)
        await expectSound(page, server)
      }
      // Whoever stepped back is not polled for any more.
      if ((await look(page)).polling && (await press(page, '.step-back'))) {
        await page.locator('.dialog-confirmation').waitFor({ state: 'detached' })
        const { polls } = server
        await page.clock.runFor(0)
        await expectSound(page, server)
        expect(server.polls - polls).toBeLessThanOrEqual(1)
      }
    }),
    { numRuns: 10, endOnFailure: true, interruptAfterTimeLimit: 60_000 },
  )
})
