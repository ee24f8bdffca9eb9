import { type Incoming, json, type Reply, text } from '../http.ts'
import { CATALOGUE, describe } from '../items.ts'
import type { Sandbox } from '../sandbox.ts'
import { callerOf } from '../tokens.ts'
import { traitsOf } from '../world/people.ts'
import { type Account, findAccount } from '../world/world.ts'
import { answer, ECONOMY, type Method } from './economy.ts'
import { OWN_METHODS } from './own.ts'

/** The Web API at api.steampowered.com, with an access token for steamcommunity.com. The sandbox has no API keys. */
export function api(request: Incoming, sandbox: Sandbox): Reply | undefined {
  if (request.host !== 'api.steampowered.com') return undefined
  const token = request.query.get('access_token') ?? request.form.get('access_token') ?? ''
  const caller = callerOf(token, 'web:community', sandbox)
  if (!caller) return text(UNAUTHORIZED, 'text/html', 401)
  const refused = sandbox.quotas.refuse(request, caller)
  if (refused) return refused
  const [, service = '', name = ''] = request.path.split('/')
  const methods = Object.hasOwn(METHODS, service) ? METHODS[service] : undefined
  const method = methods && Object.hasOwn(methods, name) ? methods[name] : undefined
  return method ? method(request, sandbox, caller) : text('<h1>Not Found</h1>', 'text/html', 404)
}

const UNAUTHORIZED =
  '<html><head><title>Unauthorized</title></head><body><h1>Unauthorized</h1>Access is denied. ' +
  'Retrying will not help. Please verify your <pre>key=</pre> parameter.</body></html>'

const METHODS: Record<string, Record<string, Method>> = {
  IEconService: { ...ECONOMY, ...OWN_METHODS },
  ISteamEconomy: { GetAssetClassInfo: classInfo },
  ISteamUser: { GetPlayerSummaries: summaries, GetPlayerBans: bans },
  IPlayerService: { GetSteamLevel: level },
}

function level({ query }: Incoming, sandbox: Sandbox): Reply {
  const world = sandbox.world()
  const account = findAccount(world, query.get('steamid') ?? '')
  const isShown = account && traitsOf(world, account).inventory !== 'hidden'
  return answer(isShown ? { player_level: account.level } : {})
}

function classInfo({ query }: Incoming): Reply {
  const appId = Number(query.get('appid'))
  const count = Math.min(Number(query.get('class_count') ?? 0), 100)
  const rows: Record<string, unknown> = {}
  for (let index = 0; index < count; index += 1) {
    const entry = CATALOGUE.get(query.get(`classid${index}`) ?? '')
    if (entry?.appId !== appId) continue
    const instance = query.get(`instanceid${index}`)
    rows[instance ? `${entry.classId}_${instance}` : entry.classId] = describe(entry)
  }
  return json({ result: { ...rows, success: true } })
}

function requestedAccounts({ query }: Incoming, sandbox: Sandbox): Account[] {
  const ids = new Set((query.get('steamids') ?? '').split(',').slice(0, 100))
  return sandbox.world().accounts.filter(({ steamId }) => ids.has(steamId))
}

function summaries(request: Incoming, sandbox: Sandbox): Reply {
  const world = sandbox.world()
  return json({
    response: {
      players: requestedAccounts(request, sandbox).map((account) =>
        summary(account, traitsOf(world, account).inventory === 'hidden'),
      ),
    },
  })
}

function summary(account: Account, isHidden: boolean) {
  const avatar = `https://avatars.steamstatic.com/${account.avatarHash}`
  return {
    steamid: account.steamId,
    communityvisibilitystate: isHidden ? 1 : 3,
    profilestate: 1,
    personaname: account.name,
    profileurl: `https://steamcommunity.com/profiles/${account.steamId}/`,
    avatar: `${avatar}.jpg`,
    avatarmedium: `${avatar}_medium.jpg`,
    avatarfull: `${avatar}_full.jpg`,
    avatarhash: account.avatarHash,
    personastate: isHidden ? 0 : 1,
  }
}

function bans(request: Incoming, sandbox: Sandbox): Reply {
  const world = sandbox.world()
  return json({
    players: requestedAccounts(request, sandbox).map((account) => ({
      SteamId: account.steamId,
      CommunityBanned: false,
      VACBanned: false,
      NumberOfVACBans: 0,
      DaysSinceLastBan: 0,
      NumberOfGameBans: 0,
      EconomyBan: traitsOf(world, account).cannotTrade === 'trade_ban' ? 'banned' : 'none',
    })),
  })
}
