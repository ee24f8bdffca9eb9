/** Addresses that the operator opens to a store's webhooks, in addition to port 443 of public hosts in live mode. */
import { isIP } from 'node:net'
import { allowAddress, allowanceFinder, forbidAddress } from '../webhooks/address-store.ts'
import { isPublicAddress } from '../webhooks/addresses.ts'
import { formatAddress, isInsideHost, parseAddress } from '../webhooks/url.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, refused, unchanged } from './operation.ts'
import { findStore } from './store.ts'
import { noStore } from './store-check.ts'

/** `inside`: the name may resolve to this machine, or to a private network. */
export type StoreAddress = { storeId: bigint; address: string; inside: boolean }

const FORM = 'The address must have the form host:port, such as shop.example:8443.'

/** The answer's `inside` is also true for `localhost`, for an inside IP address, and if it was true before. */
export function allowWebhookAddress(
  deps: ActDeps,
  { storeId, address: typed, inside: asked }: StoreAddress,
): Promise<Answer<StoreAddress>> {
  const namedAct = { name: 'store allow-address', argumentsOf: (allowed: StoreAddress) => ({ ...allowed }) }
  return act(deps, namedAct, async (tx) => {
    const address = parseAddress(typed)
    if (address === undefined) return refused('usage', FORM)
    const { host } = address
    if (isIP(host) !== 0 && !isPublicAddress(host) && !isInsideHost(host)) {
      return refused(
        'usage',
        `Webhooks are never sent to ${host}: it is neither public nor an address that can be allowed.`,
      )
    }
    if ((await findStore(tx, storeId)) === undefined) return noStore(storeId)
    const before = await allowanceFinder(tx)(storeId, address)
    const inside = asked || isInsideHost(host)
    const named = { storeId, address: formatAddress(address), inside: inside || before?.inside === true }
    if (before?.inside === named.inside) {
      return unchanged(
        named,
        `The webhooks of store ${storeId} are already allowed to go to ${named.address}.`,
      )
    }
    await allowAddress(tx, { storeId, address, inside, now: deps.clock.now() })
    return done(named, `The webhooks of store ${storeId} may go to ${named.address}.`)
  })
}

export type ForbiddenAddress = Omit<StoreAddress, 'inside'>

export function forbidWebhookAddress(
  deps: ActDeps,
  { storeId, address: typed }: { storeId: bigint; address: string },
): Promise<Answer<ForbiddenAddress>> {
  const namedAct = { name: 'store forbid-address', argumentsOf: (named: ForbiddenAddress) => ({ ...named }) }
  return act(deps, namedAct, async (tx) => {
    const address = parseAddress(typed)
    if (address === undefined) return refused('usage', FORM)
    const named = { storeId, address: formatAddress(address) }
    if (!(await forbidAddress(tx, storeId, address))) {
      return refused(
        'not_found',
        `${named.address} was not among the addresses allowed for the webhooks of store ${storeId}.`,
      )
    }
    return done(named, `The webhooks of store ${storeId} no longer go to ${named.address}.`)
  })
}
