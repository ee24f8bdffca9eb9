import type { BotList } from '../../gateway/operations/bots.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { BotLogin } from '../ui/bot-login.tsx'
import { toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Heading, Loaded, Pill, Status, Time } from '../ui/parts.tsx'
import { type Column, Export, Table } from '../ui/table.tsx'

type Data = Json<BotList>
type Bot = Data['bots'][number]

export function BotsPage() {
  const { shown, refresh } = useAnswer<Data>('bots', {})
  return (
    <>
      <Heading title="Bots">
        <BotLogin label="Enrol a bot" onDone={refresh} />
        {shown.kind === 'ready' && <ArmButton isDisarmed={shown.data.disarmed} refresh={refresh} />}
      </Heading>
      <Loaded shown={shown} refresh={refresh}>
        {({ bots, tooMany, disarmed }) => (
          <>
            {disarmed && (
              <p className="notice notice-bad">The bots are disarmed: no gateway acts for them.</p>
            )}
            {tooMany > 0 && (
              <p className="notice">
                Bots without a gateway: {tooMany}. Every gateway holds as many as it may.
              </p>
            )}
            <Table
              caption="Bots, oldest first"
              rows={bots}
              keyOf={({ botId }) => botId}
              empty="No bot is enrolled yet."
              columns={columnsWith(refresh)}
            />
            {bots.length > 0 && (
              <div className="list-foot">
                <Export columns={columnsWith(refresh)} all={async () => bots} fileName="bots" />
              </div>
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

function ArmButton({ isDisarmed, refresh }: { isDisarmed: boolean; refresh: () => void }) {
  return (
    <ActButton
      act={isDisarmed ? 'bot arm' : 'bot disarm'}
      label={isDisarmed ? 'Arm the bots' : 'Disarm the bots'}
      does={
        isDisarmed
          ? 'Gateways act for the bots again.'
          : 'Stops all gateways on this database from acting for bots. Do this on a copy of the database.'
      }
      needs="operator"
      input={() => ({})}
      onDone={refresh}
    />
  )
}

const columnsWith = (refresh: () => void): readonly Column<Bot>[] => [
  {
    name: 'Bot',
    csvValue: ({ name }) => name,
    show: ({ botId, name }) => (
      <>
        <PageLink to={`/bots/${botId}`}>{name}</PageLink> <span className="quiet">#{botId}</span>
      </>
    ),
  },
  {
    name: 'State',
    csvValue: ({ state, reachable }) => `${state} ${reachable ? 'online' : 'offline'}`,
    show: ({ state, stateReason, reachable }) => (
      <>
        <Status name={state} />{' '}
        <Pill tone={reachable ? 'good' : 'bad'}>{reachable ? 'online' : 'offline'}</Pill>{' '}
        {stateReason !== null && !reachable && <span className="quiet">{stateReason}</span>}
      </>
    ),
  },
  {
    name: 'Rests',
    csvValue: ({ bars }) =>
      bars.map(({ scope, reason, until }) => `${scope} ${reason} until ${until}`).join('; '),
    sortValue: ({ bars }) => bars.length,
    show: ({ bars }) =>
      bars.length === 0 ? (
        '—'
      ) : (
        <ul className="plain-list">
          {bars.map(({ scope, reason, until }) => (
            <li key={scope + reason}>
              {scope}: {toWords(reason)}, ends <Time at={until} />
            </li>
          ))}
        </ul>
      ),
  },
  {
    name: 'Items',
    isNumber: true,
    show: ({ itemsHeld }) => itemsHeld,
    csvValue: ({ itemsHeld }) => itemsHeld,
  },
  { name: 'Level', isNumber: true, show: ({ level }) => level, csvValue: ({ level }) => level },
  {
    name: 'Token ends',
    csvValue: ({ tokenExpiresAt }) => tokenExpiresAt,
    show: ({ tokenExpiresAt, tokenEndsSoon }) => (
      <>
        <Time at={tokenExpiresAt} /> {tokenEndsSoon && <Pill tone="warn">soon</Pill>}
      </>
    ),
  },
  { name: 'Steam id', show: ({ steamId }) => steamId, csvValue: ({ steamId }) => steamId },
  { name: 'Acts', show: (bot) => <BotActs bot={bot} refresh={refresh} /> },
]

export function BotActs({
  bot: { botId, name, state, bars },
  refresh,
}: {
  bot: Pick<Bot, 'botId' | 'name' | 'state' | 'bars'>
  refresh: () => void
}) {
  const common = { input: () => ({ bot: botId }), onDone: refresh }
  return (
    <div className="acts">
      {state === 'active' && (
        <ActButton
          {...common}
          act="bot pause"
          label="Pause"
          does={`${name} takes no new trades. Open trades continue.`}
          needs="support"
        />
      )}
      {(state === 'paused' || (state === 'active' && bars.length > 0)) && (
        <ActButton
          {...common}
          act="bot resume"
          label={state === 'paused' ? 'Resume' : 'End its rest'}
          does={`${name} collects again.`}
          needs="support"
        />
      )}
      {state !== 'retired' && <BotLogin label="Renew the token" bot={{ botId, name }} onDone={refresh} />}
      {state !== 'retired' && (
        <ActButton
          {...common}
          act="bot retire"
          label="Retire"
          does={`For a bot that will never return: ends the open trades of ${name}. You then decide about its held credit.`}
          needs="operator"
          needsReason
        />
      )}
      {(state === 'retired' || state === 'dead') && (
        <ActButton
          {...common}
          act="bot remove"
          label="Remove"
          does={`Removes ${name} and its token, if none of its trades needs watching.`}
          needs="operator"
          needsReason
        />
      )}
    </div>
  )
}
