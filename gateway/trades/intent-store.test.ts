import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { requestTrade } from './request.ts'

let till: Till
let store: { id: bigint }
let bots: BotContext[]

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till)
  bots = [(await aBot(till)).bot]
})
afterEach(() => till.close())

const trades = () => till.db.selectFrom('trade').selectAll().orderBy('id').execute()

/** A source that gives these codes, and then repeats the last one. */
function drawing(...codes: string[]) {
  const drawn: string[] = []
  const secretCode = () => {
    const code = codes[Math.min(drawn.length, codes.length - 1)] ?? ''
    drawn.push(code)
    return code
  }
  return { drawn, deps: { ...till.deps, ids: { ...till.deps.ids, secretCode } } }
}

/** Requests a trade and lets its bot do the due work, until the shopper gets an answer. */
async function ask(deps: Till['deps']) {
  const { body } = await aDeposit(till, store)
  let isAnswered = false
  const answer = requestTrade(deps, body).finally(() => {
    isAnswered = true
  })
  // The caller handles an error.
  answer.catch(() => undefined)
  const workUntilAnswered = async () => {
    for (const { id, bot_id: botId } of await trades()) {
      const bot = bots.find((each) => each.botId === botId)
      if (bot) await tradeHandlers(deps).trade(bot, id)
    }
    return isAnswered
  }
  await expect.poll(workUntilAnswered).toBe(true)
  return answer
}

it('a drawn secret code that another trade has is replaced by the next draw', async () => {
  expect(await ask(drawing('AAAAAA').deps)).toEqual({ kind: 'active' })
  const { drawn, deps } = drawing('AAAAAA', 'AAAAAA', 'BBBBBB')
  expect(await ask(deps)).toEqual({ kind: 'active' })
  expect(drawn).toEqual(['AAAAAA', 'AAAAAA', 'BBBBBB'])
  expect((await trades()).map((trade) => trade.secret_code)).toEqual(['AAAAAA', 'BBBBBB'])
})

it('a request throws and leaves no rows if each of five draws gives another trade’s code', async () => {
  await ask(drawing('AAAAAA').deps)
  const { drawn, deps } = drawing('AAAAAA')
  await expect(ask(deps)).rejects.toThrow('no free secret code in 5 draws')
  expect(drawn).toHaveLength(5)
  expect(await trades()).toHaveLength(1)
  expect(await ask(drawing('CCCCCC').deps)).toEqual({ kind: 'active' })
})

it('two simultaneous requests that draw the same code get different codes', async () => {
  const { deps } = drawing('DDDDDD', 'DDDDDD', 'EEEEEE')
  expect(await Promise.all([ask(deps), ask(deps)])).toEqual([{ kind: 'active' }, { kind: 'active' }])
  expect((await trades()).map((trade) => trade.secret_code).sort()).toEqual(['DDDDDD', 'EEEEEE'])
})
