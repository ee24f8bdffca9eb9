import { isCurrency, SCALES } from '../games.ts'
import { field, json, parseJson } from '../http.ts'
import { isBanned, isEarlyPing, isOnline, recordPing } from '../world/sellers.ts'
import { findSeller } from '../world/world.ts'
import { type Call, type CallContext, change, refuse } from './call.ts'
import { accountIdOf } from './claim.ts'

export const ACCOUNT: Record<string, Call> = {
  'GET test': ({ seller, market }) =>
    json({
      success: true,
      status: {
        user_token: seller.tradeToken !== undefined,
        trade_check: true,
        site_online: isOnline(seller, market.nowS()),
        site_notmpban: !isBanned(seller, market.nowS()),
        steam_web_api_key: false,
      },
    }),
  'GET get-my-steam-id': ({ seller }) =>
    json({
      success: true,
      steamid32: String(accountIdOf(seller.steamId)),
      steamid64: seller.steamId,
    }),
  'GET get-money': async ({ seller, market }) => {
    await market.look()
    const { free, settling, currency } = findSeller(market.world(), seller.steamId) ?? seller
    const scale = SCALES[currency]
    return json({ money: free / scale, money_settlement: settling / scale, currency, success: true })
  },
  'GET set-trade-token': (context) => {
    const token = context.request.query.get('token') ?? ''
    if (!/^[\w-]{8}$/.test(token)) return refuse('bad_token')
    change(context, (seller) => ({ ...seller, tradeToken: token }))
    return json({ success: true, token })
  },
  'GET get-token': ({ seller }) => json({ success: true, token: seller.tradeToken ?? '' }),
  'GET set-steam-api-key': () => refuse('no longer required'),
  'GET change-currency': (context) => {
    const { seller, request } = context
    const currency = request.path.split('/').at(-1)
    const isEmpty = seller.free === 0 && seller.settling === 0
    if (!isCurrency(currency) || !isEmpty) return refuse('The balance must be empty')
    change(context, (current) => ({ ...current, currency }))
    return json({ success: true })
  },
  'GET go-offline': (context) => {
    change(context, ({ pingedAtS: _, ...seller }) => ({ ...seller, onlineUntilS: 0 }))
    return json({ success: true })
  },
  'GET ping': () => refuse('deprecated, use ping-new'),
  'POST ping-new': ping,
}

async function ping(context: CallContext) {
  const { market, seller, request } = context
  if (isEarlyPing(seller, market.nowS())) return json({ success: false, message: 'too early for pong' })
  const token = field(parseJson(request.body), 'access_token')
  if (typeof token !== 'string' || !(await market.steam.isTokenOf(token, seller.steamId)))
    return json({ success: false, message: 'Invalid access token' })
  change(context, (current) => recordPing(current, token, market.nowS()))
  return json({ success: true, ping: 'pong', online: true, p2p: true, steamApiKey: false })
}
