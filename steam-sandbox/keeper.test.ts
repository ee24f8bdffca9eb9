/** The file that keeps the world between runs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RunningSteam, startSteam } from './start.ts'
import { sendOffer } from './world/offers.ts'
import { STATE } from './world/world.ts'

let folder: string
let dataFile: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'steam-sandbox-'))
  dataFile = join(folder, 'data', 'world.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

const start = () => startSteam({ port: 0, seed: 'keeper', dataFile })
const savedWorld = () => JSON.parse(readFileSync(dataFile, 'utf8'))

function sendAnOffer(steam: RunningSteam): void {
  const nova = steam.as('nova_hound')
  const token = new URL(nova.tradeUrl()).searchParams.get('token') ?? ''
  const sender = steam.as('Tradetill Bot #1').steamId
  const intent = {
    sender,
    partner: nova.steamId,
    token,
    message: 'CODE',
    items: nova.tradable(570).slice(0, 1),
  }
  steam.change((world, nowS) => sendOffer(world, intent, nowS))
}

it('the world is saved soon after a change, and loaded after a restart', async () => {
  const steam = await start()
  sendAnOffer(steam)
  await expect.poll(() => savedWorld().offers, { message: 'the offer in the file' }).toHaveLength(1)
  steam.advance(60)
  await steam.close()
  const restarted = await start()
  expect(restarted.world().offers).toMatchObject([{ message: 'CODE' }])
  expect(restarted.world().aheadS).toBe(60)
  expect(restarted.as('nova_hound').tradeUrl()).toBe(steam.as('nova_hound').tradeUrl())
  await restarted.close()
})

it('an offer in a world that the first version saved can be accepted', async () => {
  const steam = await start()
  sendAnOffer(steam)
  await steam.close()
  const { accounts, offers, lastId } = savedWorld()
  const old = {
    version: 1,
    lastId,
    accounts: accounts
      .slice(0, 4)
      .map(
        ({ sessionGeneration: _, loginGeneration: __, ...rest }: object & Record<string, unknown>) => rest,
      ),
    offers: offers.map(({ give: _, ...rest }: Record<string, unknown>) => rest),
    trades: [],
  }
  writeFileSync(dataFile, JSON.stringify(old))
  const restarted = await start()
  const [first] = restarted.world().offers
  expect(restarted.as('nova_hound').accept(first?.id ?? '')).toMatchObject({ kind: 'accepted' })
  expect(restarted.world().offers[0]?.state).toBe(STATE.accepted)
  expect(restarted.as('Tradetill Bot #1').items()).toHaveLength(1)
  expect(restarted.as('magic_hold').items().length).toBeGreaterThan(10)
  await restarted.close()
})

it('a saved world receives the magic players that it lacks, and its other accounts stay unchanged', async () => {
  const steam = await start()
  sendAnOffer(steam)
  await steam.close()
  const world = savedWorld()
  const before = { ...world, accounts: world.accounts.slice(0, -2) }
  writeFileSync(dataFile, JSON.stringify(before))
  const restarted = await start()
  const { accounts } = restarted.world()
  expect(accounts.slice(0, -2)).toEqual(before.accounts)
  expect(accounts.slice(-2)).toMatchObject(world.accounts.slice(-2).map(onlyIdOf))
  expect(restarted.world().offers).toEqual(before.offers)
  const ids = accounts.flatMap(({ assets }) => assets.map(({ assetId }) => assetId))
  expect(new Set(ids).size).toBe(ids.length)
  await restarted.close()
})

const onlyIdOf = ({ steamId }: { steamId: string }) => ({ steamId })

it('a file without a valid world is refused and stays unchanged', async () => {
  await (await start()).close()
  writeFileSync(dataFile, '{"version":99}')
  await expect(start()).rejects.toThrow('is not a world of this sandbox')
  expect(savedWorld()).toEqual({ version: 99 })
})
