/** What the gallery shows: each scene is the answers of the server, and what the shopper does with them. */
import type { Page } from 'playwright-core'
import {
  DEPOSIT_STATUSES,
  type FinalDepositStatus,
  INVENTORY_ERROR_TYPES,
  isFinal,
} from '../contract/statuses.ts'
import type { Inventory, Payment } from '../contract/widget-api.ts'
import type { Messages } from '../widget/i18n/en.ts'

export type Answers = {
  /** Null: there is no such deposit. */
  payment: Payment | null
  /** Null: the answer never comes. */
  inventory: Inventory | null
  /** What POST /api/trade answers; by default it is refused. */
  trade?: { status: number; code: string }
}

/** What all scenes begin from: taken from a real till, so that pictures and names are those of the sandbox. */
export type Base = { payment: Payment; pending: Payment; inventory: Inventory }

type Step = (page: Page, texts: Messages) => Promise<void>

export type Scene = {
  name: string
  /** Path; the deposit's own by default. */
  path?: string
  answers(base: Base): Answers
  steps?: Step
}

const pick =
  (...indices: number[]): Step =>
  async (page) => {
    await page.getByRole('gridcell').first().waitFor()
    for (const index of indices) await page.getByRole('gridcell').nth(index).click()
  }

const stand = ({ payment, inventory }: Base): Answers => ({ payment, inventory })
const dialog: Step = (page) => page.getByRole('dialog').waitFor()

const PAGES: Scene[] = [
  { name: 'landing', path: '/', answers: stand },
  { name: 'help', path: '/help', answers: stand },
  { name: 'not-found', path: '/nothing/here', answers: stand },
  { name: 'unknown-deposit', answers: (base) => ({ ...stand(base), payment: null }) },
]

const LINK: Scene[] = [
  { name: 'guide', answers: (base) => ({ ...stand(base), payment: { ...base.payment, user: null } }) },
  {
    name: 'guide-invalid',
    answers: (base) => ({ ...stand(base), payment: { ...base.payment, user: null } }),
    steps: (page, texts) =>
      page.getByRole('textbox', { name: texts.tradeLink }).fill('https://steamcommunity.com/id/somebody'),
  },
  {
    name: 'guide-works',
    answers: (base) => ({
      ...stand(base),
      payment: { ...base.payment, user: null, technicalWorks: true, timeLeft: null },
    }),
  },
]

const STAND: Scene[] = [
  { name: 'inventory', answers: stand, steps: pick(0, 4, 5) },
  { name: 'inventory-untouched', answers: stand, steps: pick() },
  { name: 'inventory-loading', answers: (base) => ({ ...stand(base), inventory: null }) },
  {
    name: 'inventory-empty',
    answers: (base) => ({ ...stand(base), inventory: { ...base.inventory, items: [], quoteId: null } }),
  },
  {
    name: 'inventory-three',
    answers: (base) => ({
      ...stand(base),
      inventory: { ...base.inventory, items: base.inventory.items.slice(0, 3) },
    }),
    steps: pick(0),
  },
  {
    name: 'inventory-long-names',
    answers: (base) => ({
      ...stand(base),
      payment: { ...base.payment, storeName: 'The Most Extraordinarily Long Named Store of Them All' },
      inventory: {
        ...base.inventory,
        items: base.inventory.items.slice(0, 12).map((item) => ({
          ...item,
          name: `${item.name} ${'Donaudampfschifffahrt '.repeat(4)}`,
          price: item.price * 1000 + 99,
        })),
      },
    }),
    steps: pick(0, 1),
  },
  {
    name: 'inventory-search',
    answers: stand,
    steps: async (page, texts) => {
      const toggle = page.getByRole('button', { name: texts.searchOpen })
      if (await toggle.isVisible()) await toggle.click()
      await page.getByRole('searchbox', { name: texts.search }).fill('knife')
    },
  },
  {
    name: 'inventory-why',
    answers: (base) => ({
      ...stand(base),
      inventory: { ...base.inventory, items: base.inventory.items.slice(0, 6) },
    }),
    steps: (page, texts) => page.getByRole('button', { name: texts.why }).click(),
  },
  {
    name: 'inventory-focus',
    answers: stand,
    steps: async (page) => {
      await page.getByRole('gridcell').first().focus()
      await page.keyboard.press('ArrowRight')
    },
  },
  ...INVENTORY_ERROR_TYPES.map((type) => ({
    name: `inventory-${type}`,
    answers: (base: Base) => ({
      ...stand(base),
      inventory: { ...base.inventory, items: [], inventoryError: true, inventoryErrorType: type },
    }),
  })),
]

const ended = (status: FinalDepositStatus, change: Partial<Payment> = {}): Scene => ({
  name: `outcome-${status}`,
  answers: (base) => ({ ...stand(base), payment: { ...base.pending, timeLeft: null, status, ...change } }),
  steps: dialog,
})

const MODALS: Scene[] = [
  { name: 'confirmation', answers: (base) => ({ ...stand(base), payment: base.pending }), steps: dialog },
  {
    name: 'confirmation-last-minute',
    answers: (base) => ({ ...stand(base), payment: { ...base.pending, timeLeft: 42, technicalWorks: true } }),
    steps: dialog,
  },
  {
    name: 'confirmation-creating',
    answers: (base) => ({ ...stand(base), payment: { ...base.payment, creating: true } }),
    steps: dialog,
  },
  {
    name: 'creation-error',
    answers: (base) => ({ ...stand(base), trade: { status: 422, code: 'trade_refused' } }),
    steps: async (page, texts) => {
      await pick(0)(page, texts)
      await page.getByRole('button', { name: texts.pay, exact: true }).click()
      await page.getByRole('dialog', { name: texts.creationErrorTitle }).waitFor()
    },
  },
  ...DEPOSIT_STATUSES.filter(isFinal).map((status) => ended(status)),
  { ...ended('tradeDeclined', { declinedAtOnce: true }), name: 'outcome-stolen-key' },
  {
    ...ended('succeeded', { heldAmount: 10_000, heldUntil: '2026-03-09T09:00:00.000Z' }),
    name: 'outcome-held',
  },
]

export const SCENES: Scene[] = [...PAGES, ...LINK, ...STAND, ...MODALS]
