import { type Incoming, type Reply, text } from '../http.ts'
import { GAMES } from '../items.ts'
import { escapeText } from '../pages/html.ts'
import type { Sandbox } from '../sandbox.ts'
import { isTokenOf } from '../world/offers.ts'
import { obstacleToReceiving } from '../world/people.ts'
import { holdDaysOf } from '../world/trades.ts'
import { type Account, findAccount, type Obstacle, type World } from '../world/world.ts'

/** The page for making an offer. Programs read its error texts and the variables of its script. */
export function tradePage(request: Incoming, sandbox: Sandbox, steamId: string): Reply {
  const refused = sandbox.quotas.refuse(request, steamId)
  if (refused) return refused
  const world = sandbox.world()
  const partner = world.accounts.find(({ accountId }) => String(accountId) === request.query.get('partner'))
  const me = findAccount(world, steamId)
  if (!me || !partner) return problemPage('Trade Offers can only be sent to friends.')
  const problem = problemOf(sandbox, partner, request.query.get('token'))
  return problem ? problemPage(problem) : formPage(world, me, partner)
}

function problemOf(sandbox: Sandbox, partner: Account, token: string | null): string | undefined {
  const world = sandbox.world()
  if (!token) return 'Trade Offers can only be sent to friends.'
  if (!isTokenOf(world, partner, token)) {
    return `This Trade URL is no longer valid for sending a trade offer to ${partner.name}.`
  }
  const obstacle = obstacleToReceiving(world, partner, sandbox.nowS())
  return obstacle && obstacleText(obstacle, partner.name)
}

/** Steam's error text for an account that cannot trade or cannot receive offers. */
export function obstacleText(obstacle: Obstacle, name: string): string {
  switch (obstacle) {
    case 'trade_ban':
      return `You cannot trade with ${name} because they have a trade ban.`
    case 'limited_account':
      return 'This person has a limited account. They cannot trade until they have bought something on Steam.'
    case 'private_inventory':
      return `${name}'s inventory privacy is set to "Private", so they cannot receive trade offers.`
    case 'cannot_trade':
      return `${name} is not available to trade. More information will be shown to ${name} if they invite you to trade.`
    default:
      return obstacle satisfies never
  }
}

function problemPage(problem: string): Reply {
  return text(`<html><body><div id="error_msg">${escapeText(problem)}</div></body></html>`)
}

function formPage(world: World, me: Account, partner: Account): Reply {
  const images = [me, partner].map(
    ({ accountId, avatarHash }) =>
      `<img src="https://avatars.steamstatic.com/${avatarHash}.jpg" data-miniprofile="${accountId}">`,
  )
  const [mine, theirs] = [holdDaysOf(world, me.steamId), holdDaysOf(world, partner.steamId)]
  return text(`<html><body>${images.join('')}
\t<script>g_steamID = "${me.steamId}";</script>
\t<script type="text/javascript">
\t\tvar g_rgAppContextData = ${contextsOf(me)};
\t\tvar g_rgPartnerAppContextData = ${contextsOf(partner)};
\t\tvar g_strYourPersonaName = ${scriptText(me.name)};
\t\tvar g_strTradePartnerPersonaName = ${scriptText(partner.name)};
\t\tvar g_ulTradePartnerSteamID = '${partner.steamId}';
\t\tvar g_bTradePartnerProbation = false;
\t\tvar g_daysMyEscrow = ${mine};
\t\tvar g_daysTheirEscrow = ${theirs};
\t\tvar g_daysBothEscrow = ${Math.max(mine, theirs)};
\t</script></body></html>`)
}

/** Escapes a text so it cannot end the script. */
function scriptText(value: string): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}

function contextsOf({ assets }: Account): string {
  const rows = GAMES.map(({ appId, name }) => {
    const count = assets.filter((asset) => asset.appId === appId && asset.contextId === '2').length
    const contexts = { 2: { asset_count: count, id: '2', name: 'Backpack' } }
    return [
      appId,
      { appid: appId, name, icon: '', asset_count: count, trade_permissions: 'FULL', rgContexts: contexts },
    ]
  })
  return JSON.stringify(Object.fromEntries(rows))
}
