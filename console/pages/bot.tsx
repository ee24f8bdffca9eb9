import type { BotView } from '../../gateway/operations/bot-view.ts'
import type { Json } from '../api/json.ts'
import { useAnswer } from '../ui/answer.ts'
import { toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Facts, Heading, Loaded, Panel, Pill, Status, Time } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'
import { BotActs } from './bots.tsx'
import { CallsOfBot } from './method-calls.tsx'

type View = Json<BotView>

export function BotPage({ bot }: { bot: string }) {
  const { shown, refresh } = useAnswer<View>('bot', { bot })
  return (
    <>
      <Heading title={shown.kind === 'ready' ? shown.data.name : `Bot ${bot}`}>
        <PageLink className="button small" to={`/trades?bot=${bot}`}>
          Its trades
        </PageLink>
        <PageLink className="button small" to={`/items?bot=${bot}`}>
          Its items
        </PageLink>
      </Heading>
      <Loaded shown={shown} refresh={refresh}>
        {(view) => (
          <>
            <About view={view} refresh={refresh} />
            <Rests bars={view.bars} />
            <Room view={view} />
            <Calls view={view} />
            <CallsOfBot bot={bot} />
            <Offers view={view} />
          </>
        )}
      </Loaded>
    </>
  )
}

function About({ view, refresh }: { view: View; refresh: () => void }) {
  const { state, reachable, stateReason, offersFailingSince, inventoriesFailingSince } = view
  const failures = [
    ['offers have failed', offersFailingSince],
    ['inventories have failed', inventoriesFailingSince],
  ] as const
  return (
    <Panel
      title={`Bot ${view.botId}`}
      aside={
        <span>
          <Status name={state} />{' '}
          <Pill tone={reachable ? 'good' : 'bad'}>{reachable ? 'online' : 'offline'}</Pill>
        </span>
      }
    >
      {stateReason !== null && !reachable && <p className="notice">{stateReason}</p>}
      {failures.map(([failure, since]) =>
        since === null ? null : (
          <p key={failure} className="notice notice-bad">
            Its {failure} since <Time at={since} />.
          </p>
        ),
      )}
      <Facts
        facts={[
          [
            'Steam id',
            <span key="steam" className="whole">
              {view.steamId}
            </span>,
          ],
          ['Level', view.level],
          ['Token ends', <Time key="token" at={view.tokenExpiresAt} />],
          ['Items', view.itemsHeld],
          ['Open offers', `${view.offers.length} of ${view.mostOffers}`],
          ['Reversals checked until', <Time key="history" at={view.history?.completeAt ?? null} />],
        ]}
      />
      <BotActs bot={view} refresh={refresh} />
    </Panel>
  )
}

/** The advice of docs/operating.md for each reason. */
const ADVICE: Record<View['bars'][number]['reason'], string> = {
  bot_cannot_trade:
    'A new device, a cooldown, a ban, or Steam Guard on for less than 15 days: look at the account in Steam. Pause the bot if this lasts.',
  own_hold: 'Steam would hold the bot’s own trades: add the mobile authenticator again and wait 7 days.',
  too_many_in_all: 'The account has too many open offers: lower TRADETILL_BOT_OFFERS if this happens often.',
  inventory_full: 'The account’s inventory of the game is full: move items out.',
  rate_limited: 'Too many requests: put fewer bots behind one address.',
  doubted:
    'Steam refused this bot’s offers and took the same ones from another, so this bot is chosen last: look at the account in Steam.',
}

function Rests({ bars }: Pick<View, 'bars'>) {
  if (bars.length === 0) return null
  return (
    <Panel title="Rests">
      <Table
        caption="Why the bot gets fewer new trades, or none"
        rows={bars}
        keyOf={({ scope, reason }) => scope + reason}
        empty=""
        columns={[
          { name: 'Game', show: ({ scope }) => (scope === 'all' ? 'all games' : scope) },
          { name: 'Why', show: ({ reason }) => toWords(reason) },
          { name: 'Times', isNumber: true, show: ({ times }) => times },
          { name: 'Ends', show: ({ until }) => <Time at={until} /> },
          { name: 'What to do', show: ({ reason }) => ADVICE[reason] },
        ]}
      />
    </Panel>
  )
}

function Room({ view: { games } }: { view: View }) {
  return (
    <Panel title="Room">
      <Table
        caption="Items and room by game"
        rows={games}
        keyOf={({ game }) => game}
        empty=""
        columns={[
          { name: 'Game', show: ({ game }) => game },
          { name: 'Items', isNumber: true, show: ({ held }) => held },
          { name: 'Limit', isNumber: true, show: ({ most }) => most },
          { name: 'Protected', isNumber: true, show: (row) => row.protected },
          { name: 'Arriving', isNumber: true, show: ({ onTheWay }) => onTheWay },
          { name: 'Free room', isNumber: true, show: ({ room }) => room },
        ]}
      />
    </Panel>
  )
}

export function Calls({ view: { calls, refusals } }: { view: Pick<View, 'calls' | 'refusals'> }) {
  return (
    <Panel title="Last hour">
      <Facts
        facts={[
          ['Calls to Steam', calls.asked],
          ['Answered 429', calls.limited],
          ['Failed', calls.failed],
          ['Held back by our limits', calls.heldBack],
        ]}
      />
      <Table
        caption="Offers that Steam refused, or that the till did not send"
        rows={refusals}
        keyOf={({ refusal, game }) => refusal + game}
        empty="No offer was refused or kept back."
        columns={[
          { name: 'Refused', show: ({ refusal }) => toWords(refusal) },
          { name: 'Game', show: ({ game }) => game },
          { name: 'Times', isNumber: true, show: ({ times }) => times },
          { name: 'Last', show: ({ lastAt }) => <Time at={lastAt} /> },
        ]}
      />
    </Panel>
  )
}

function Offers({ view: { offers } }: { view: View }) {
  return (
    <Panel title="Open offers">
      <Table
        caption="Open offers, newest first"
        rows={offers}
        keyOf={({ tradeId }) => tradeId}
        empty="No offer is open."
        columns={[
          {
            name: 'Deposit',
            show: ({ depositId }) => <PageLink to={`/deposits/${depositId}`}>{depositId}</PageLink>,
          },
          { name: 'State', show: ({ state }) => <Status name={state} /> },
          { name: 'Game', show: ({ game }) => game },
          { name: 'Items', isNumber: true, show: ({ items }) => items },
          { name: 'Shopper', show: ({ partnerSteamId }) => partnerSteamId },
          { name: 'Offer', show: ({ offerId }) => offerId ?? '—' },
          { name: 'Deadline', show: ({ deadline }) => <Time at={deadline} /> },
        ]}
      />
    </Panel>
  )
}
