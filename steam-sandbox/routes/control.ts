import { type Incoming, json, type Reply, type Sandbox, tradeLink } from '../exchange.ts'
import { parseFault } from '../faults.ts'
import { refreshTokenOf } from '../tokens.ts'
import { acceptOffer, endOffer } from '../world.ts'

/** What tests and demos may ask the sandbox for, on its own address only. */
export function control(request: Incoming, sandbox: Sandbox): Reply | undefined {
  if (!request.path.startsWith('/control/')) return undefined
  const offer = /^\/control\/offers\/(\d+)\/(accept|decline)$/.exec(request.path)
  if (offer?.[1] && request.method === 'POST') {
    return answerOffer(sandbox, offer[1], offer[2] === 'accept' ? 'accept' : 'decline')
  }
  return CALLS[`${request.method} ${request.path}`]?.(sandbox, request)
}

const CALLS: Record<string, (sandbox: Sandbox, request: Incoming) => Reply> = {
  'GET /control/players': ({ world }) => {
    const shoppers = world().accounts.filter(({ kind }) => kind === 'shopper')
    return json(
      shoppers.map((account) => ({
        name: account.name,
        steamId: account.steamId,
        accountId: account.accountId,
        tradeUrl: tradeLink(account),
      })),
    )
  },
  'GET /control/bots': ({ world, nowS }) => {
    const bots = world().accounts.filter(({ kind }) => kind === 'bot')
    return json(
      bots.map(({ name, steamId }) => ({ name, steamId, refreshToken: refreshTokenOf(steamId, nowS()) })),
    )
  },
  'GET /control/offers': ({ world }) => json(world().offers),
  'GET /control/log': ({ log }) => json(log),
  'POST /control/reset': ({ reset }) => {
    reset()
    return json({ ok: true })
  },
  'POST /control/faults': ({ faults }, request) => {
    const fault = parseFault(request.json)
    if (!fault) return json({ error: 'A fault needs match.path and an effect.' }, 400)
    faults.add(fault)
    return json({ ok: true })
  },
  'DELETE /control/faults': ({ faults }) => {
    faults.clear()
    return json({ ok: true })
  },
}

/** Accepts or declines as the shopper whom the offer was sent to. */
export function answerOffer(sandbox: Sandbox, offerId: string, how: 'accept' | 'decline'): Reply {
  const by = sandbox.world().offers.find(({ id }) => id === offerId)?.partner
  if (by === undefined) return json({ error: 'There is no such offer.' }, 404)
  const answer = sandbox.change<{ kind: string; eresult?: number; tradeId?: string }>((world, nowS) =>
    how === 'accept'
      ? acceptOffer(world, { offerId, by }, nowS)
      : endOffer(world, { offerId, by, how }, nowS),
  )
  return json(answer, answer.kind === 'refused' ? 409 : 200)
}
