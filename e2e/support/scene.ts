import type { Page } from 'playwright-core'
import type { RefusalCause } from '../../contract/errors.ts'
import type { Inventory, Payment, PriceReason } from '../../contract/widget-api.ts'
import type { Messages } from '../../widget/i18n/en.ts'

export type Answers = {
  /** Null if the deposit does not exist; 'never' if no answer comes. */
  payment: Payment | 'never' | null
  /** 'never' if no answer comes. */
  inventory: Inventory | 'never'
  /** The answer to POST /api/trade-url; absent if the scene does not call it. */
  link?: { status: number; code: string } | 'never'
  /** The answer to GET /api/price; absent if the scene does not call it. */
  price?: PriceReason
  /** The answer to POST /api/trade; a refusal by default. */
  trade?: { status: number; code: string; until?: string; cause?: RefusalCause }
}

/** The data that all scenes begin with. It comes from a real till, so pictures and names are the sandbox's. */
export type Base = { payment: Payment; pending: Payment; inventory: Inventory }

export type Step = (page: Page, texts: Messages) => Promise<void>

export type Scene = {
  name: string
  /** The path to open; the deposit's by default. */
  path?: string
  /** The trade link of an earlier visit. */
  storedLink?: string
  answers(base: Base): Answers
  /** Acts on the page, and waits until it shows the scene. Before that, it may still show its first frame. */
  steps: Step
}

/** Clicks the items at these positions. */
export const pick =
  (...indices: number[]): Step =>
  async (page) => {
    await page.getByRole('gridcell').first().waitFor()
    for (const index of indices) await page.getByRole('gridcell').nth(index).click()
  }

/** The answers for a shopper who is at the stand and has picked nothing. */
export const standAnswers = ({ payment, inventory }: Base): Answers => ({ payment, inventory })
