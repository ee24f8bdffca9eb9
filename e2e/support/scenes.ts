import type { Locator, Page } from 'playwright-core'
import {
  DEPOSIT_STATUSES,
  type FinalDepositStatus,
  INVENTORY_ERROR_TYPES,
  isFinal,
} from '../../contract/statuses.ts'
import type { Payment } from '../../contract/widget-api.ts'
import type { Messages } from '../../widget/i18n/en.ts'
import { LINK } from './link-scenes.ts'
import { LISTS } from './list-scenes.ts'
import { type Base, pick, type Scene, type Step, standAnswers } from './scene.ts'

/** Returns the search field. On a phone, opens it first. */
async function searchField(page: Page, texts: Messages): Promise<Locator> {
  const toggle = page.getByRole('button', { name: texts.searchOpen })
  const field = page.getByRole('searchbox', { name: texts.search })
  await toggle.or(field).first().waitFor()
  if (await toggle.isVisible()) await toggle.click()
  return field
}

const waitForDialog: Step = (page) => page.getByRole('dialog').waitFor()
const waitForHeading =
  (nameOf: (texts: Messages) => string): Step =>
  (page, texts) =>
    page.getByRole('heading', { name: nameOf(texts) }).waitFor()
const waitForTitle: Step = (page) => page.getByRole('heading', { level: 1 }).waitFor()

const PAGES: Scene[] = [
  { name: 'landing', path: '/', answers: standAnswers, steps: waitForTitle },
  { name: 'help', path: '/help', answers: standAnswers, steps: waitForTitle },
  {
    name: 'not-found',
    path: '/nothing/here',
    answers: standAnswers,
    steps: waitForHeading(({ notFound }) => notFound),
  },
  {
    name: 'unknown-deposit',
    answers: (base) => ({ ...standAnswers(base), payment: null }),
    steps: waitForHeading(({ paymentNotFound }) => paymentNotFound),
  },
  {
    name: 'waiting',
    answers: (base) => ({ ...standAnswers(base), payment: 'never' }),
    // The page shows nothing more than it begins with.
    steps: async () => {},
  },
]

const STAND: Scene[] = [
  { name: 'inventory', answers: standAnswers, steps: pick(0, 4, 5) },
  { name: 'inventory-untouched', answers: standAnswers, steps: pick() },
  {
    name: 'inventory-loading',
    answers: (base) => ({ ...standAnswers(base), inventory: 'never' }),
    steps: (page, texts) => page.getByText(texts.inventoryLoading).waitFor(),
  },
  {
    name: 'inventory-empty',
    answers: (base) => ({
      ...standAnswers(base),
      inventory: { ...base.inventory, items: [], quoteId: null },
    }),
    steps: waitForHeading(({ nothingUsable }) => nothingUsable),
  },
  {
    name: 'inventory-three',
    answers: (base) => ({
      ...standAnswers(base),
      inventory: { ...base.inventory, items: base.inventory.items.slice(0, 3) },
    }),
    steps: pick(0),
  },
  {
    name: 'inventory-long-names',
    answers: (base) => ({
      ...standAnswers(base),
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
    answers: standAnswers,
    steps: async (page, texts) => {
      await (await searchField(page, texts)).fill('knife')
    },
  },
  {
    name: 'inventory-nothing-found',
    answers: standAnswers,
    steps: async (page, texts) => {
      await (await searchField(page, texts)).fill('no such item')
      await page.getByText(texts.nothingFound('no such item')).waitFor()
    },
  },
  {
    name: 'inventory-unusable-found',
    answers: (base) => ({
      ...standAnswers(base),
      inventory: { ...base.inventory, unavailableNames: { notPopular: ['Dragon Lore'] } },
    }),
    steps: async (page, texts) => {
      await (await searchField(page, texts)).fill('dragon l')
      await page.getByRole('heading', { name: 'Dragon Lore' }).waitFor()
    },
  },
  {
    name: 'inventory-below',
    answers: (base) => ({ ...standAnswers(base), inventory: { ...base.inventory, minPrice: 999_999 } }),
    steps: pick(1),
  },
  {
    name: 'inventory-above',
    answers: (base) => ({ ...standAnswers(base), payment: { ...base.payment, maxAmount: 50_000 } }),
    steps: pick(0, 1),
  },
  {
    name: 'inventory-too-many',
    answers: (base) => ({ ...standAnswers(base), inventory: { ...base.inventory, maxItems: 1 } }),
    steps: async (page, texts) => {
      await pick(0, 1)(page, texts)
      await page.getByText(texts.tooManyItems).waitFor()
    },
  },
  {
    name: 'inventory-reconnected',
    answers: standAnswers,
    steps: async (page, texts) => {
      await pick(0)(page, texts)
      await page.context().setOffline(true)
      await page.getByText(texts.offline).waitFor()
      await page.context().setOffline(false)
      await page.getByText(texts.online).waitFor()
    },
  },
  {
    name: 'inventory-maintenance',
    answers: (base) => ({
      ...standAnswers(base),
      payment: { ...base.payment, technicalWorks: true, timeLeft: null },
    }),
    steps: pick(0),
  },
  {
    name: 'inventory-accent',
    answers: (base) => ({ ...standAnswers(base), payment: { ...base.payment, storeAccent: '#5b3df5' } }),
    steps: pick(0, 4),
  },
  {
    name: 'inventory-stepped-back',
    answers: (base) => ({ ...standAnswers(base), payment: base.pending }),
    steps: async (page, texts) => {
      await page.getByRole('button', { name: texts.stepBack }).click()
      await page.getByText(texts.offerWaiting).waitFor()
    },
  },
  {
    name: 'inventory-why',
    answers: (base) => ({
      ...standAnswers(base),
      inventory: { ...base.inventory, items: base.inventory.items.slice(0, 6) },
    }),
    steps: (page, texts) => page.getByRole('button', { name: texts.why }).click(),
  },
  {
    name: 'inventory-hold',
    answers: standAnswers,
    steps: async (page, texts) => {
      await pick(0, 4, 5)(page, texts)
      // On a phone the reason is behind a button.
      const why = page.locator('.bottom-bar').getByRole('button', { name: texts.why })
      if (await why.isVisible()) await why.click()
    },
  },
  {
    name: 'inventory-focus',
    answers: standAnswers,
    steps: async (page) => {
      await page.getByRole('gridcell').first().focus()
      await page.keyboard.press('ArrowRight')
    },
  },
  ...INVENTORY_ERROR_TYPES.map((type) => ({
    name: `inventory-${type}`,
    answers: (base: Base) => ({
      ...standAnswers(base),
      inventory: { ...base.inventory, items: [], inventoryError: true, inventoryErrorType: type },
    }),
    steps: waitForHeading(({ inventoryErrors }) => inventoryErrors[type].title),
  })),
]

const outcomeScene = (status: FinalDepositStatus, change: Partial<Payment> = {}): Scene => ({
  name: `outcome-${status}`,
  answers: (base) => ({
    ...standAnswers(base),
    payment: { ...base.pending, timeLeft: null, status, ...change },
  }),
  steps: waitForDialog,
})

const MODALS: Scene[] = [
  {
    name: 'confirmation',
    answers: (base) => ({ ...standAnswers(base), payment: base.pending }),
    steps: waitForDialog,
  },
  {
    name: 'confirmation-nothing-held',
    answers: ({ pending: { heldBy: _, ...pending }, inventory }) => ({
      inventory,
      payment: { ...pending, heldAmount: 0, heldUntil: null },
    }),
    steps: waitForDialog,
  },
  {
    name: 'confirmation-last-minute',
    answers: (base) => ({
      ...standAnswers(base),
      payment: { ...base.pending, timeLeft: 42, technicalWorks: true },
    }),
    steps: waitForDialog,
  },
  {
    name: 'confirmation-creating',
    answers: (base) => ({ ...standAnswers(base), payment: { ...base.payment, creating: true } }),
    steps: waitForDialog,
  },
  {
    name: 'creation-error',
    answers: (base) => ({ ...standAnswers(base), trade: { status: 422, code: 'trade_refused' } }),
    steps: async (page, texts) => {
      await pick(0)(page, texts)
      await page.getByRole('button', { name: texts.pay, exact: true }).click()
      await page.getByRole('dialog', { name: texts.creationErrorTitle }).waitFor()
    },
  },
  {
    name: 'creation-error-cause',
    answers: (base) => ({
      ...standAnswers(base),
      trade: { status: 422, code: 'trade_refused', cause: 'account_restricted' },
    }),
    steps: async (page, texts) => {
      await pick(0)(page, texts)
      await page.getByRole('button', { name: texts.pay, exact: true }).click()
      await page
        .getByRole('dialog')
        .getByText(texts.creationCauses.account_restricted ?? '')
        .waitFor()
    },
  },
  {
    name: 'creation-error-paused',
    answers: (base) => ({
      ...standAnswers(base),
      trade: { status: 409, code: 'offers_paused', until: '2026-03-01T12:01:30.000Z' },
    }),
    steps: async (page, texts) => {
      await pick(0)(page, texts)
      await page.getByRole('button', { name: texts.pay, exact: true }).click()
      const [textBefore = ''] = texts.offersPaused('|').split('|')
      await page
        .getByRole('dialog')
        .getByText(new RegExp(`${textBefore}\\d`))
        .waitFor()
    },
  },
  ...DEPOSIT_STATUSES.filter(isFinal).map((status) => outcomeScene(status)),
  {
    ...outcomeScene('tradeDeclined', { endedAtOnce: true, nextOfferAt: '2026-03-01T12:01:30.000Z' }),
    name: 'outcome-stolen-key',
  },
  {
    ...outcomeScene('succeeded', { heldAmount: 10_000, heldUntil: '2026-03-09T09:00:00.000Z' }),
    name: 'outcome-held',
  },
  { ...outcomeScene('succeeded', { takenBack: 'all', amount: 0 }), name: 'outcome-taken-back' },
  { ...outcomeScene('succeeded', { takenBack: 'some' }), name: 'outcome-some-taken-back' },
  {
    ...outcomeScene('tradeHasInvalidItems', { steamHoldUntil: '2026-03-16T09:00:00.000Z' }),
    name: 'outcome-steam-hold',
  },
  {
    ...outcomeScene('tradeTimeout', { cancelledElsewhere: true, endedAtOnce: true }),
    name: 'outcome-cancelled-elsewhere',
  },
]

/** The names of the scenes that the gallery photographs in every look: at more widths, and in forced colours. */
export const IN_ALL_LOOKS = [
  'guide',
  'inventory',
  'inventory-long-names',
  'inventory-hold',
  'confirmation',
  'outcome-held',
  'outcome-stolen-key',
  'creation-error-cause',
]

const PRICE: Scene[] = [
  {
    name: 'inventory-why-price',
    answers: (base) => ({
      ...standAnswers(base),
      price: {
        price: base.inventory.items.map(({ price }) => price).toSorted((a, b) => b - a)[1] ?? 0,
        currency: 'USD',
        said: [
          { source: 'market.csgo.com', ageSeconds: 130 },
          { source: 'Skinport', ageSeconds: 1_900 },
          { source: null, ageSeconds: 14_000 },
        ],
        rate: null,
      },
    }),
    steps: async (page, texts) => {
      await page.getByRole('gridcell').first().focus()
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('?')
      await page.getByText('Skinport').waitFor()
      await page.getByText(texts.whyPriceNote(3)).waitFor()
    },
  },
]

const OUT_OF_REACH: Scene = {
  name: 'inventory-out-of-reach',
  answers: (base) => ({
    ...standAnswers(base),
    inventory: { ...base.inventory, items: base.inventory.items.slice(-3), minPrice: 999_999 },
  }),
  steps: pick(0, 1),
}

export const SCENES: Scene[] = [...PAGES, ...LINK, ...STAND, ...MODALS, ...PRICE, ...LISTS, OUT_OF_REACH]
