/**
 * `npm run prove -- sale`: follows one item from a shopper's inventory to the money that an outside market pays for it,
 * with a real browser and everything that `npm start` starts. The vault asks Steam as rarely as in live mode, so this
 * takes minutes.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { DESKTOP, launchShell, visit } from '../../e2e/support/browser.ts'
import { eventually } from '../../e2e/support/process.ts'
import { readPlayer } from '../../e2e/support/sandbox.ts'
import { prepare } from '../../e2e/support/setup.ts'
import { answerInBrowser, goFromStoreToOffer, TEXTS } from '../../e2e/support/shopper.ts'
import { endTill, query, startTill, type Till } from '../../e2e/support/till.ts'
import { DEFAULT_PROTECTION_DAYS } from '../../gateway/config.ts'
import { runCommand } from '../../gateway/testing/command.ts'
import { defineProof, keepFlag } from '../proof.ts'

const DEADLINE_MS = 300_000
const SHOPPER = 'nova_hound'
/**
 * How far the clock is advanced to end the protection of an item of Counter-Strike 2, and to let a market pay for it.
 */
const PROTECTION = `${DEFAULT_PROTECTION_DAYS.cs}d`
const SETTLEMENT = `${DEFAULT_PROTECTION_DAYS.cs + 1}d`

const soldSchema = z.object({
  sales: z.array(
    z.object({
      item: z.string(),
      state: z.string(),
      priceMinor: z.int(),
      receivedMinor: z.int(),
      costMinor: z.int(),
      resultMinor: z.int(),
    }),
  ),
})
const listedSchema = z.array(z.object({ itemId: z.int(), status: z.string() }))

export const saleProof = defineProof({
  options: z.object({ keep: keepFlag() }),
  async run() {
    await prepare()
    const till = await startTill()
    try {
      const sale = await sellOne(till)
      const isExact = sale.resultMinor === sale.receivedMinor - sale.costMinor
      const passed = sale.state === 'paid' && isExact
      console.log(`sale: ${JSON.stringify(sale)} ${passed ? 'PASS' : 'FAIL'}`)
      return { passed, result: { name: 'sale', content: { passed, sale } } }
    } finally {
      await endTill(till)
    }
  },
})

/** Runs an operator's command. Throws its message if it was refused. */
async function runOperatorCommand(till: Till, ...args: string[]): Promise<string> {
  const env = { TRADETILL_DATA: join(till.root, 'gateway'), TRADETILL_STEAM_SANDBOX_URL: till.sandbox }
  const { out, errors, code } = await runCommand(args, { env })
  if (code !== 0) throw new Error(errors)
  return out
}

async function sellOne(till: Till) {
  await payInBrowser(till)
  await runOperatorCommand(till, 'clock', 'advance', PROTECTION)
  await waitFor('the protection has ended', async () =>
    (await query(till, `select 1 from trade where state = 'held'`)).length === 0 ? true : undefined,
  )
  const [item] = await query(
    till,
    `select received_asset_id as asset from custody_entry where moved = 'in' order by id limit 1`,
  )
  await runOperatorCommand(till, 'items', 'send', '--to', 'seller', '--item', String(item?.asset))
  await waitFor(
    'the bot gave it to the account that sells',
    async () =>
      (await query(till, `select 1 from departure where stage = 'gone' and explanation = 'vault'`))[0],
  )
  // Items of this game are protected after each trade, so the receiver must wait too.
  await runOperatorCommand(till, 'clock', 'advance', PROTECTION)
  const listing = await waitFor('the vault has listed it', async () =>
    (await marketItems(till)).find(({ status }) => status === 'on_sale'),
  )
  await buy(till, listing.itemId)
  await waitFor(
    'the vault gave it to its buyer',
    async () => (await query(till, `select 1 from sale where state in ('delivered', 'settling')`))[0],
  )
  await runOperatorCommand(till, 'clock', 'advance', SETTLEMENT)
  await waitFor(
    'the market has paid',
    async () => (await query(till, `select 1 from sale where state = 'paid'`))[0],
  )
  const report = ['report', 'sales', '--from', '2026-01-01', '--to', '2100-01-01', '--json']
  const [sale] = soldSchema.parse(JSON.parse(await runOperatorCommand(till, ...report))).sales
  if (sale === undefined) throw new Error('the report has no sale')
  return sale
}

async function payInBrowser(till: Till): Promise<void> {
  const browser = await launchShell()
  try {
    const { page } = await visit(browser, DESKTOP)
    await goFromStoreToOffer(page, till, await readPlayer(till.sandbox, SHOPPER))
    await answerInBrowser(page, TEXTS.en, 'Accept')
    await page.getByRole('dialog', { name: TEXTS.en.outcomes.succeeded.title }).waitFor()
    console.log('sale: paid in the browser')
  } finally {
    await browser.close()
  }
}

/** Waits until `look` finds something, and prints how long that took. */
async function waitFor<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const beganMs = performance.now()
  const found = await eventually(what, look, DEADLINE_MS)
  console.log(`sale: ${what}, after ${((performance.now() - beganMs) / 1_000).toFixed(0)} s`)
  return found
}

async function marketItems({ market }: Till) {
  return listedSchema.parse(await (await fetch(`${market}/control/items`)).json())
}

async function buy({ market }: Till, itemId: number): Promise<void> {
  const answer = await fetch(`${market}/control/buy`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ items: [itemId], as: 'accepts' }),
  })
  if (!answer.ok) throw new Error(`the market did not sell the item: ${await answer.text()}`)
}
