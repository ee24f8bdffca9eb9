import type { DepositView } from '../../gateway/operations/deposits.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { formatMinor, formatTime, toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Facts, Heading, Loaded, Panel, Pill, Status, Time } from '../ui/parts.tsx'
import { ShopperLink } from '../ui/shopper-link.tsx'
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
          {toWords(need)}
        </Pill>
      ))}
      <Facts
        facts={[
          [
            'Store',
            <PageLink key="s" to={`/stores/${deposit.storeId}`}>
              {deposit.store}
            </PageLink>,
          ],
          ['Credited', formatMinor(deposit.amountMinor, currency)],
          ['Held', formatMinor(deposit.heldMinor, currency)],
          ['Taken back', formatMinor(deposit.reversedMinor, currency)],
          ['Shopper', <ShopperLink key="p" steamId={deposit.steamId} />],
          ['Game', deposit.game ?? '—'],
          ['Opened', <Time key="t" at={deposit.createdAt} />],
        ]}
      />
    </Panel>
  )
}

/** The shopper's history, by which an operator decides whether to release or hold credit. */
function ShopperOf({ shopper }: { shopper: NonNullable<View['shopper']> }) {
  const { steamId } = shopper
  return (
    <Panel
      title="Shopper"
      aside={
        <span>
          <ShopperStatus shopper={shopper} /> <ShopperLink steamId={steamId} />
        </span>
      }
    >
      <History shopper={shopper} />
    </Panel>
  )
}

export function Outlook({ view, refresh }: { view: Pick<View, 'next' | 'can'>; refresh: () => void }) {
  return (
    <Panel title="What happens next">
      {view.next.length === 0 ? (
        <p className="empty">Nothing: the deposit has ended.</p>
      ) : (
        <ol className="plain-list">
          {view.next.map(({ at, what }) => (
            <li key={what}>
              <span className="quiet">{at === null ? 'at an unknown time' : <Time at={at} />}</span> {what}
            </li>
          ))}
        </ol>
      )}
      <div className="acts">
        {view.can.map((allowed) => (
          <Act key={allowed.command} allowed={allowed} refresh={refresh} />
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
  'trade credit': 'Credit the trade',
  'trade release': 'Release',
  'trade reverse': 'Reverse the credit',
  'shopper deny': 'Deny its shopper',
  'bot retire': 'Retire its bot',
  'webhook replay': 'Send the webhook again',
}

const ACTS_ON_TRADE = new Set(['trade release', 'trade reverse', 'trade end'])
const ACTS_ON_DEPOSIT = new Set(['deposit hold', 'deposit release'])

/** An act that the deposit allows, now or from a later time. An act without a form or a link here shows its command. */
function Act({ allowed, refresh }: { allowed: View['can'][number]; refresh: () => void }) {
  // The number of the trade, deposit, account, bot or endpoint that the act is for.
  const [, , target = ''] = allowed.command.split(' ')
  const label = LABELS[allowed.act] ?? allowed.act
  if (allowed.from !== null)
    return (
      <p className="quiet">
        {label}, from {formatTime(allowed.from)}: {allowed.does}
      </p>
    )
  const does = `${allowed.does.charAt(0).toUpperCase()}${allowed.does.slice(1)}.`
  const common = { act: allowed.act, label, does, needsReason: true, onDone: refresh }
  if (ACTS_ON_TRADE.has(allowed.act))
    return <ActButton {...common} needs="operator" input={() => ({ tradeId: target })} />
  if (ACTS_ON_DEPOSIT.has(allowed.act))
    return <ActButton {...common} needs="operator" input={() => ({ depositId: target })} />
  if (allowed.act === 'trade credit')
    return (
      <ActButton
        {...common}
        needs="operator"
        fields={[
          { name: 'steamTradeId', label: 'Number of the Steam trade that you saw' },
          ...(allowed.command.includes('--offer') ? [{ name: 'offerId', label: 'Number of its offer' }] : []),
        ]}
        input={({ steamTradeId = '', offerId }) => ({
          tradeId: target,
          steamTradeId,
          offerId: offerId ?? null,
        })}
      />
    )
  if (allowed.act === 'trade look')
    return <ActButton {...common} needs="support" needsReason={false} input={() => ({ tradeId: target })} />
  if (allowed.act === 'shopper deny')
    return <ActButton {...common} needs="support" input={() => ({ steamId: target })} />
  if (allowed.act === 'bot retire')
    return <ActButton {...common} needs="operator" input={() => ({ bot: target })} />
  if (allowed.act === 'webhook replay') {
    const [fromSequence, toSequence] = [...allowed.command.matchAll(/--(?:from|to) (\d+)/g)].map(
      ([, number]) => Number(number),
    )
    return (
      <ActButton
        {...common}
        label={`${label} (event ${fromSequence}, endpoint ${target})`}
        needs="support"
        needsReason={false}
        input={() => ({ endpointId: target, fromSequence, toSequence })}
      />
    )
  }
  if (allowed.act === 'bot renew')
    return (
      <PageLink className="button small" to={`/bots/${target}`}>
        Renew its bot’s token
      </PageLink>
    )
  return (
    <p className="quiet">
      {allowed.does}: <code>tradetill {allowed.command}</code>
    </p>
  )
}

function Timeline({ moments }: { moments: View['moments'] }) {
  return (
    <Panel title="What happened">
      <ol className="timeline">
        {moments.map(({ at, what, amountMinor, currency }, index) => (
          // Two entries can be equal, and none has state that could move to another.
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
