/**
 * The polling engine of the Steam client libraries, used as its documentation describes, for comparison with the till.
 * It reads the public inventory, sends, polls the list of offers every five seconds, and asks for the new ids of
 * accepted items. It does not ask whether Steam would hold the trade, and does not read the page for making an offer.
 */
import { createRequire } from 'node:module'
import {
  type Community,
  createCommunity,
  inventoryOf,
  type LibraryOffer,
  loginCookies,
  wait,
} from '../steam-sandbox/conformance/libraries.ts'
import { type RunningSteam, startSteam } from '../steam-sandbox/start.ts'

/** The interval that the libraries' author calls reasonably safe. */
const POLL_MS = 5_000
/** Steam's state of an accepted offer. */
const ACCEPTED = 3

type PollingManager = {
  setCookies(cookies: string[], done: (error: Error | null) => void): void
  createOffer(tradeUrl: string): LibraryOffer
  on(event: 'sentOfferChanged', listener: (offer: LibraryOffer) => void): void
  shutdown(): void
}

const require = createRequire(import.meta.url)
const TradeOfferManager: new (options: object) => PollingManager = require('steam-tradeoffer-manager')

export type Peer = {
  /** The Steam sandbox that only this engine uses. */
  steam: RunningSteam
  /** Sends an offer for an item of this person that is in no other offer. */
  sendOffer(person: string): Promise<string>
  /** Lets the person accept. Resolves to the seconds until the new ids of the items are known. */
  acceptAndWait(person: string, offerId: string): Promise<number>
  close(): Promise<void>
}

export async function openPeer(bot: string): Promise<Peer> {
  const steam = await startSteam({ port: 0, seed: 'bench', quotas: false })
  const community = createCommunity(steam)
  const manager = new TradeOfferManager({
    community,
    pollInterval: POLL_MS,
    dataDirectory: null,
    useAccessToken: true,
  })
  const waiting = new Map<string, () => void>()
  manager.on('sentOfferChanged', (offer) => {
    if (offer.state === ACCEPTED) offer.getExchangeDetails(false, () => waiting.get(offer.id)?.())
  })
  const cookies = await loginCookies(steam, steam.as(bot).refreshToken())
  await wait<void>((done) => manager.setCookies(cookies, done))
  const requested = new Set<string>()
  return {
    steam,
    sendOffer: (person) => send({ steam, community, manager, requested }, person),
    acceptAndWait(person, offerId) {
      const beganMs = performance.now()
      const { promise, resolve } = Promise.withResolvers<number>()
      waiting.set(offerId, () => resolve((performance.now() - beganMs) / 1_000))
      steam.as(person).accept(offerId)
      return promise
    },
    async close() {
      manager.shutdown()
      await steam.close()
    },
  }
}

type Parts = { steam: RunningSteam; community: Community; manager: PollingManager; requested: Set<string> }

async function send({ steam, community, manager, requested }: Parts, person: string): Promise<string> {
  const { steamId, tradeUrl } = steam.as(person)
  const item = (await inventoryOf(community, steamId)).find(({ assetid }) => !requested.has(assetid))
  if (item === undefined) throw new Error(`${person} has nothing left to ask for`)
  requested.add(item.assetid)
  const offer = manager.createOffer(tradeUrl())
  offer.addTheirItem({ appid: 730, contextid: '2', assetid: item.assetid })
  await wait<string>((done) => offer.send(done))
  return offer.id
}
