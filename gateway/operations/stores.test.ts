import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { GAMES, type Game } from '../../contract/games.ts'
import { createDeposit } from '../deposits/create.ts'
import { savePrices, saveRate } from '../pricing/store.ts'
import { readGames, readPrices } from '../store-api/offerings.ts'
import { operatorOf } from '../testing/operator.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { requestTrade } from '../trades/request.ts'
import type { ActDeps } from './operation.ts'
import { changeStore, disableStore, enableStore, listStores, showStore } from './stores.ts'

let till: Till
let deps: ActDeps
let storeId: bigint

beforeAll(async () => {
  till = await startTill()
  deps = operatorOf(till)
})
afterAll(() => till.close())
beforeEach(async () => {
  storeId = (await aStore(till)).id
})

const openDeposit = (externalId: string, games?: Game[]) => {
  const body = { externalId, currency: 'USD' as const, backToStoreUrl: 'https://store.test/', games }
  return createDeposit(till.deps, { id: storeId }, body)
}

describe('a store', () => {
  it('can have many settings changed at once, and a later change leaves the other settings as they are', async () => {
    const changes = {
      name: 'Anvil',
      origins: ['https://anvil.test'],
      riskLimitUsdCents: 250_000n,
      creditMode: 'on_release',
      liability: 'store',
      commissionBps: 3_050,
      games: ['cs', 'rust'],
      accent: '#AABBCC',
    } as const
    expect(await changeStore(deps, { storeId, ...changes, origins: [...changes.origins] })).toMatchObject({
      kind: 'done',
    })
    const shown = {
      name: 'Anvil',
      origins: ['https://anvil.test'],
      riskLimit: { amountMinor: 250_000n, currency: 'USD' },
      atRisk: { amountMinor: 0n, currency: 'USD' },
      creditMode: 'on_release',
      liability: 'store',
      commissionBps: 3_050,
      games: ['cs', 'rust'],
      accent: '#aabbcc',
    }
    expect(await showStore(deps, storeId)).toMatchObject({ data: shown })
    await changeStore(deps, { storeId, commissionBps: null, games: null })
    expect(await showStore(deps, storeId)).toMatchObject({
      data: { ...shown, commissionBps: null, games: null },
    })
  })

  it.each<[string, Parameters<typeof changeStore>[1], RegExp]>([
    ['an empty name', { storeId: 1n, name: '' }, /name/],
    ['a commission above the maximum', { storeId: 1n, commissionBps: 9_001 }, /commission/],
    [
      'a commission so small that the till would pay for pumped prices',
      { storeId: 1n, commissionBps: 1_000 },
      /too small for cs, dota.* at least 23\.08/,
    ],
    ['an empty list of games', { storeId: 1n, games: [] }, /game/],
    ['an origin with a path', { storeId: 1n, origins: ['https://x.test/a'] }, /origin/],
    ['an empty change', { storeId: 1n }, /nothing to change/],
  ])('cannot be given %s', async (_, changes, why) => {
    const before = await showStore(deps, 1n)
    expect(await changeStore(deps, changes)).toMatchObject({
      refusal: 'usage',
      message: expect.stringMatching(why),
    })
    expect(await showStore(deps, 1n)).toEqual(before)
  })

  it('can have a commission so small that the till pays for pumped prices, if the settings allow it', async () => {
    const allowed = { ...deps, config: { ...deps.config, mayPayAboveLevel: new Set(GAMES) } }
    expect(await changeStore(allowed, { storeId, commissionBps: 1_000 })).toMatchObject({ kind: 'done' })
  })

  it('is listed page by page with the other stores, and a list can have only the disabled stores', async () => {
    const first = await listStores(deps, { limit: 1 })
    expect(first).toMatchObject({
      data: { stores: [{ storeId: 1n, atRisk: { amountMinor: 0n } }], next: 1n },
    })
    const rest = await listStores(deps, { limit: 500, after: 1n })
    expect(rest.data).toMatchObject({ next: null })
    expect(rest.data?.stores.map((store) => store.storeId)).toContain(storeId)
    await disableStore(deps, storeId)
    expect((await listStores(deps, { limit: 500, isDisabled: true })).data?.stores).toMatchObject([
      { storeId },
    ])
    await enableStore(deps, storeId)
  })
})

describe('a store that is disabled', () => {
  it('opens no new deposit, but gets the deposits that it opened before', async () => {
    const { deposit } = await openDeposit('before')
    expect(await disableStore(deps, storeId)).toMatchObject({ kind: 'done' })
    expect(await disableStore(deps, storeId)).toMatchObject({ kind: 'unchanged' })
    await expect(openDeposit('after')).rejects.toMatchObject({ code: 'store_disabled' })
    expect(await openDeposit('before')).toMatchObject({ created: false, deposit: { id: deposit.id } })
    await enableStore(deps, storeId)
    expect(await openDeposit('after')).toMatchObject({ created: true })
  })

  it('takes no items for a deposit that was opened before', async () => {
    await aBot(till)
    const deposit = await aDeposit(till, { id: storeId })
    await disableStore(deps, storeId)
    expect(await requestTrade(till.deps, deposit.body)).toMatchObject({
      kind: 'refused',
      code: 'technical_works',
    })
  })
})

it('a change of a store’s games applies to its later deposits', async () => {
  await changeStore(deps, { storeId, games: ['cs', 'rust'] })
  expect((await openDeposit('all')).deposit.games).toEqual(['cs', 'rust'])
  expect((await openDeposit('some', ['rust', 'dota'])).deposit.games).toEqual(['rust'])
  await expect(openDeposit('none', ['dota'])).rejects.toMatchObject({ code: 'invalid_request' })
})

it('a store reads the minimums and prices of its own games only', async () => {
  await changeStore(deps, { storeId, games: ['rust', 'dota'] })
  const namesOfGames = async (store: bigint) =>
    (await readGames(till.deps, store)).games.map(({ game }) => game)
  expect(await namesOfGames(storeId)).toEqual(GAMES.filter((game) => ['dota', 'rust'].includes(game)))
  expect(await namesOfGames((await aStore(till)).id)).toEqual([...GAMES])
  const reasonIn = async (game: Game) =>
    (await readPrices(till.deps, storeId, { game, currency: 'USD', name: ['Gloves'] })).prices[0]?.reason
  expect(await reasonIn('cs')).toBe('gameNotAccepted')
  expect(await reasonIn('rust')).toBe('noPrice')
})

it('a store’s commission applies to its own prices only', async () => {
  await saveRate(till.db, 'fixed', { currency: 'USD', perUsd: '1', asOf: till.clock.now() })
  const facts = { popularity: 60, popularityKind: 'sales30d' as const, asOf: till.clock.now() }
  const row = { marketHashName: 'Knife', usdMicros: 10_000_000n, levelUsdMicros: 10_000_000n, ...facts }
  await savePrices(till.db, { source: 'market', game: 'cs' }, [row])
  await changeStore(deps, { storeId, commissionBps: 4_000 })
  const priceFor = async (store: bigint) =>
    (await readPrices(till.deps, store, { game: 'cs', currency: 'USD', name: ['Knife'] })).prices
  // 10 USD, less 40 % at this store, and less the default commission of 25 % at another.
  expect(await priceFor(storeId)).toMatchObject([{ price: 600 }])
  expect(await priceFor((await aStore(till)).id)).toMatchObject([{ price: 750 }])
})
