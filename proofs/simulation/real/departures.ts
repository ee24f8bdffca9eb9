/** Compares the departures and the custody in the database with what happened on Steam. */
import { DESTINATIONS, hasLeftBots } from '../gifts.ts'
import { must } from '../violation.ts'
import { isLost } from './deaths.ts'
import { BOTS } from './people.ts'
import type { Scene } from './scene.ts'

/** Must run at the end, when the till has read the whole histories of its bots. */
export async function checkDepartures(scene: Scene): Promise<void> {
  const { steam, monitor } = scene
  const { rows: known } = await monitor.query<{ id: string; explanation: string | null }>(
    'select steam_trade_id as id, explanation from departure',
  )
  const explanations = new Map(known.map(({ id, explanation }) => [id, explanation]))
  for (const { id } of known)
    must(steam.gifts.has(id), 'I18', () => `the till reports the gift ${id}, which never happened`)
  const { rows: watched } = await monitor.query<{ bot: number }>(
    'select distinct bot_id::int as bot from custody_entry',
  )
  const everHeld = new Set(watched.flatMap(({ bot }) => (isLost(scene, bot) ? [] : [BOTS[bot - 1]])))
  const explanationByPartner = new Map([...DESTINATIONS.values()].map((account) => [account, 'destination']))
  for (const bot of BOTS) explanationByPartner.set(bot, 'own_bot')
  for (const { tradeId, bot, partner, state } of steam.gifts.values()) {
    if (!everHeld.has(bot) || (state === 'failed' && !explanations.has(tradeId))) continue
    must(explanations.has(tradeId), 'I18', () => `the gift ${tradeId} of bot ${bot} was not noticed`)
    // The operator may have retired a lost bot, which then no longer counts as a bot of the till.
    if (isLost(scene, BOTS.indexOf(partner) + 1)) continue
    const explanation = explanations.get(tradeId) ?? null
    must(
      explanation === (explanationByPartner.get(partner) ?? null),
      'I18',
      () => `${tradeId} to ${partner} is explained by ${explanation}`,
    )
  }
  await checkCustody(scene)
}

async function checkCustody(scene: Scene): Promise<void> {
  const { rows } = await scene.monitor.query<{
    bot: number
    steamTrade: string
    asset: string
    moved: string
  }>(
    `select distinct on (trade_id, asset_id) entry.bot_id::int as bot, steam_trade_id as "steamTrade", asset_id as asset, moved
     from custody_entry entry join trade on trade.id = trade_id order by trade_id, asset_id, entry.id desc`,
  )
  for (const { bot, steamTrade, asset, moved } of rows) {
    const item = scene.steam.steamTrades.get(steamTrade)?.items.find((each) => each.asset.assetId === asset)
    if (item === undefined || item.rolledBackAssetId !== null) continue
    // The till does not read the history of a bot that is out of service.
    if ([...item.bots].some((had) => isLost(scene, BOTS.indexOf(had) + 1))) continue
    const name = `item ${asset} of ${steamTrade}`
    must((moved === 'out') === hasLeftBots(item), 'I18', () => `${name} is ${moved} in custody`)
    const isSame = item.place === null || BOTS[bot - 1] === item.place.bot
    must(isSame, 'I18', () => `${name} is booked to bot ${bot}, ${item.place?.bot} has it`)
  }
}
