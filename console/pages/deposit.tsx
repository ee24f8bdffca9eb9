import type { DepositView } from '../../gateway/operations/deposits.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { formatMinor, formatTime, words } from '../ui/format.ts'
import { Go } from '../ui/link.tsx'
import { Facts, Heading, Loaded, Panel, Pill, Status, Time } from '../ui/parts.tsx'
import { History, ShopperStatus } from './shopper.tsx'

type View = Json<DepositView>

export function DepositPage({ depositId }: { depositId: string }) {
  const { shown, refresh } = useAnswer<View>('deposit', { depositId })
  return (
    <>
      <Heading title={`Deposit ${depositId}`} />
      <Loaded shown={shown} refresh={refresh}>
        {(view) => (
          <>
            <About view={view} />
            <Outlook view={view} refresh={refresh} />
            {view.shopper !== null && <ShopperOf shopper={view.shopper} />}
            <Timeline moments={view.moments} />
          </>
        )}
      </Loaded>
    </>
  )
}

function About({ view: deposit }: { view: View }) {
  const { currency } = deposit
  return (
    <Panel title={deposit.externalId} aside={<Status name={deposit.status} />}>
      {deposit.needs.map((need) => (
        <Pill key={need} tone="bad">
          {words(need)}
        </Pill>
      ))}
      <Facts
        facts={[
          [
            'Store',
            <Go key="s" to={`/stores/${deposit.storeId}`}>
              {deposit.store}
            </Go>,
          ],
          ['Credited', formatMinor(deposit.amountMinor, currency)],
          ['Held', formatMinor(deposit.heldMinor, currency)],
          ['Taken back', formatMinor(deposit.reversedMinor, currency)],
          [
            'Shopper',
            deposit.steamId === null ? (
              '—'
            ) : (
              <Go key="p" to={`/shoppers/${deposit.steamId}`}>
                {deposit.steamId}
              </Go>
            ),
          ],
          ['Game', deposit.game ?? '—'],
          ['Opened', <Time key="t" at={deposit.createdAt} />],
        ]}
      />
    </Panel>
  )
}

/** Shown with the acts, because an operator decides by the shopper's history whether to release or hold credit. */
function ShopperOf({ shopper }: { shopper: NonNullable<View['shopper']> }) {
  const { steamId } = shopper
  return (
    <Panel
      title="Shopper"
      aside={
        <span>
          <ShopperStatus shopper={shopper} /> <Go to={`/shoppers/${steamId}`}>{steamId}</Go>
        </span>
      }
    >
      <History shopper={shopper} />
    </Panel>
  )
}

function Outlook({ view, refresh }: { view: View; refresh: () => void }) {
  return (
    <Panel title="What happens next">
      {view.next.length === 0 ? (
        <p className="empty">Nothing: the deposit has ended.</p>
      ) : (
        <ol className="plain-list">
          {view.next.map(({ at, what }) => (
            <li key={what}>
              {at === null ? <span className="quiet">when an operator acts</span> : <Time at={at} />} {what}
            </li>
          ))}
        </ol>
      )}
      <div className="acts">
        {view.can.map((can) => (
          <Act key={can.command} can={can} refresh={refresh} />
        ))}
      </div>
    </Panel>
  )
}

const LABELS: Record<string, string> = {
  'deposit hold': 'Hold its credit',
  'deposit release': 'Release now',
  'trade look': 'Ask Steam now',
  'trade end': 'End the trade',
  'trade credit': 'Credit it',
  'trade release': 'Release',
  'trade reverse': 'Take it back',
  'shopper deny': 'Deny its shopper',
  'bot retire': 'Retire its bot',
  'webhook replay': 'Send the webhook again',
}

const ACTS_ON_TRADE = new Set(['trade release', 'trade reverse', 'trade end'])
const ACTS_ON_DEPOSIT = new Set(['deposit hold', 'deposit release'])

/** An act that the deposit allows now. An act without a form here shows its command. */
function Act({ can, refresh }: { can: View['can'][number]; refresh: () => void }) {
  // The number of the trade, deposit, account, bot or endpoint that the act is for.
  const [, , target = ''] = can.command.split(' ')
  const label = LABELS[can.act] ?? can.act
  if (can.from !== null)
    return (
      <p className="quiet">
        {label}, from {formatTime(can.from)}: {can.does}
      </p>
    )
  const does = `${can.does.charAt(0).toUpperCase()}${can.does.slice(1)}.`
  const common = { act: can.act, label, does, needsReason: true, onDone: refresh }
  if (ACTS_ON_TRADE.has(can.act))
    return <ActButton {...common} needs="operator" input={() => ({ tradeId: target })} />
  if (ACTS_ON_DEPOSIT.has(can.act))
    return <ActButton {...common} needs="operator" input={() => ({ depositId: target })} />
  if (can.act === 'trade credit')
    return (
      <ActButton
        {...common}
        needs="operator"
        fields={[
          { name: 'steamTradeId', label: 'Number of the Steam trade that you saw' },
          ...(can.command.includes('--offer') ? [{ name: 'offerId', label: 'Number of its offer' }] : []),
        ]}
        input={({ steamTradeId = '', offerId }) => ({
          tradeId: target,
          steamTradeId,
          offerId: offerId ?? null,
        })}
      />
    )
  if (can.act === 'trade look')
    return <ActButton {...common} needs="support" needsReason={false} input={() => ({ tradeId: target })} />
  if (can.act === 'shopper deny')
    return <ActButton {...common} needs="support" input={() => ({ steamId: target })} />
  if (can.act === 'bot retire')
    return <ActButton {...common} needs="operator" input={() => ({ bot: target })} />
  if (can.act === 'webhook replay') {
    const [from, to] = [...can.command.matchAll(/--(?:from|to) (\d+)/g)].map(([, number]) => Number(number))
    return (
      <ActButton
        {...common}
        label={`${label} (event ${from}, endpoint ${target})`}
        needs="support"
        needsReason={false}
        input={() => ({ endpointId: target, fromSequence: from, toSequence: to })}
      />
    )
  }
  if (can.act === 'bot renew')
    return (
      <Go className="button small" to={`/bots/${target}`}>
        Renew its bot
      </Go>
    )
  return (
    <p className="quiet">
      {can.does}: <code>tradetill {can.command}</code>
    </p>
  )
}

function Timeline({ moments }: { moments: View['moments'] }) {
  return (
    <Panel title="What happened">
      <ol className="timeline">
        {moments.map(({ at, what, amountMinor, currency }, index) => (
          // Entries are only ever appended, and two can be equal.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <li key={index}>
            <time dateTime={at}>{formatTime(at)}</time>
            <span>{what}</span>
            {currency !== null && <strong>{formatMinor(amountMinor, currency)}</strong>}
          </li>
        ))}
      </ol>
    </Panel>
  )
}
