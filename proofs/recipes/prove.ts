/**
 * `npm run prove -- recipes`: runs each example store of the documents unchanged and checks it with `tradetill verify`.
 * Then a shopper of the sandbox pays there through a real till. Prints which interpreters are missing.
 */
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { eventually, freePorts } from '../../e2e/support/process.ts'
import { answerOffer, inviteGuest } from '../../e2e/support/sandbox.ts'
import { endTill, startTill, type Till } from '../../e2e/support/till.ts'
import { callerOf, makeOffer } from '../../e2e/support/widget-calls.ts'
import { verifyHandler } from '../../gateway/conformance/verify.ts'
import { systemClock } from '../../gateway/kit/clock.ts'
import { runCommand } from '../../gateway/testing/command.ts'
import { SECRET } from '../../gateway/testing/webhooks.ts'
import { defineProof, keepFlag } from '../proof.ts'
import { isInstalled, RECIPES_OF_DOCUMENTS, type Recipe, startShop } from './shops.ts'

const CUSTOMER = 'nova'
/** How long to wait until the store has fetched an event whose webhook it missed. */
const RECONCILE_MS = 30_000

/** The balance's URL. `{CUSTOMER}` is the placeholder that `tradetill verify` fills in. */
const balanceAt = (address: string): string => `${address}/balance?customer={CUSTOMER}`

/** Resolves to the faults that `verify` finds in the store. */
async function complaintsOf(recipe: Recipe): Promise<string[]> {
  const [port = 0, tillPort = 0] = await freePorts(2)
  const shop = await startShop(recipe, {
    port,
    url: `http://127.0.0.1:${tillPort}`,
    key: 'tt_test_1',
    secret: SECRET,
  })
  try {
    const verified = await verifyHandler({
      url: new URL(`${shop.address}/webhooks/tradetill`),
      secret: SECRET,
      clock: systemClock,
      customer: CUSTOMER,
      balance: balanceAt(shop.address),
      tillPort,
      patience: { reconcileMs: RECONCILE_MS },
    })
    if (verified.kind !== 'checked') return [verified.reason]
    const wrong = verified.results.filter(({ result }) => result !== 'passed')
    return wrong.map(({ check, result, detail }) => `${result} ${check}: ${detail}`)
  } finally {
    await shop.end()
  }
}

/** A store that was started without its secret must not take a webhook that was signed with an empty one. */
async function forgeryAt(recipe: Recipe): Promise<string[]> {
  const [port = 0] = await freePorts(1)
  const settings = { port, url: 'http://127.0.0.1:9', key: 'tt_test_1', secret: '' }
  const shop = await startShop(recipe, settings).catch(() => undefined)
  // A store that does not start takes nothing.
  if (shop === undefined) return []
  try {
    const timestamp = String(Math.floor(Date.now() / 1_000))
    const body = JSON.stringify({ type: 'webhook.test', data: { challenge: 'forged' } })
    const signature = createHmac('sha256', '').update(`1.${timestamp}.${body}`).digest('base64')
    const headers = {
      'webhook-id': '1',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    }
    const { ok } = await fetch(`${shop.address}/webhooks/tradetill`, { method: 'POST', headers, body })
    return ok ? ['without its secret, it takes a webhook that was signed with an empty one'] : []
  } finally {
    await shop.end()
  }
}

const addedSchema = z.object({ apiKey: z.string(), webhookSecret: z.string() })

async function addStore(till: Till, { name }: Recipe, port: number) {
  const origin = `http://localhost:${port}`
  const options = ['--webhook-url', `${origin}/webhooks/tradetill`, '--risk-limit-usd', '100000']
  const args = ['store', 'add', '--name', `Recipe ${name}`, '--origin', origin, ...options, '--json']
  const env = { TRADETILL_DATA: join(till.root, 'gateway'), TRADETILL_STEAM_SANDBOX_URL: till.sandbox }
  const { out, errors, code } = await runCommand(args, { env })
  if (code !== 0) throw new Error(errors)
  return addedSchema.parse(JSON.parse(out))
}

/** Pays, and waits until the customer can spend the money. Resolves to what failed; undefined if nothing did. */
async function payAt(till: Till, recipe: Recipe): Promise<string | undefined> {
  const [port = 0] = await freePorts(1)
  const { apiKey: key, webhookSecret: secret } = await addStore(till, recipe, port)
  const shop = await startShop(recipe, { port, url: till.gateway, key, secret })
  try {
    const bought = await fetch(`${shop.address}/buy?customer=${CUSTOMER}`, {
      method: 'POST',
      redirect: 'manual',
    })
    const url = bought.headers.get('location')
    if (bought.status !== 303 || url === null) return `/buy answered ${bought.status}\n${shop.output()}`
    const caller = await callerOf(till.gateway, { id: '', url, hash: url.slice(-32) })
    const { tradeUrl } = await inviteGuest(till.sandbox)
    await caller.post('/api/trade-url', { tradeUrl })
    const { offerId, amount } = await makeOffer(caller)
    await answerOffer(till.sandbox, offerId, 'accept')
    const balance = async () => (await fetch(balanceAt(shop.address).replace('{CUSTOMER}', CUSTOMER))).text()
    await eventually(`the customer can spend ${amount}`, async () => {
      return (await balance()) === String(amount) || undefined
    })
    return undefined
  } catch (error) {
    return `${String(error)}\n${shop.output()}`
  } finally {
    await shop.end()
  }
}

export const recipesProof = defineProof({
  options: z.object({ keep: keepFlag() }),
  run: async () => {
    const installed = RECIPES_OF_DOCUMENTS.filter(isInstalled)
    for (const { name, probe } of RECIPES_OF_DOCUMENTS) {
      if (!installed.some((recipe) => recipe.name === name))
        console.log(`not here    ${name} (this fails: ${probe.join(' ')})`)
    }
    const till = await startTill()
    try {
      const results = []
      for (const recipe of installed) {
        const complaints = [...(await complaintsOf(recipe)), ...(await forgeryAt(recipe))]
        const problem = await payAt(till, recipe)
        const faults = [...complaints, ...(problem === undefined ? [] : [problem])]
        console.log(
          `${faults.length === 0 ? 'passed      ' : 'FAILED      '}${[recipe.name, ...faults].join('\n  ')}`,
        )
        results.push({ recipe: recipe.name, passed: faults.length === 0 })
      }
      const passed = results.length > 0 && results.every((result) => result.passed)
      return { passed, result: { name: 'recipes', content: { passed, recipes: results } } }
    } finally {
      await endTill(till)
    }
  },
})
