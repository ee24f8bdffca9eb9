import './stepper.css'
import { memo } from 'react'
import { nameWithPhase } from '../../contract/item-name.ts'
import type { Currency } from '../../contract/money.ts'
import type { Item } from '../../contract/widget-api.ts'
import { type ShownName, shownName } from '../parts/item-name.ts'
import { CurrencyIcon } from '../ui/currency.tsx'
import { TickIcon } from '../ui/icons.tsx'
import { Picture } from '../ui/picture.tsx'
import { PICTURE } from './geometry.ts'
import { capitalised, hyphenated } from './hyphenated.ts'
import { useStandTexts } from './texts.ts'

type Props = {
  item: Item
  index: number
  column: number
  width: number
  currency: Currency
  /** Number of equal items behind this card; `pickedCount` of them are picked. */
  count: number
  pickedCount: number
  isTabStop: boolean
  /** The id of the popover that explains the price. */
  whyId: string
}

/** The most characters of a price that fit a narrow card in letters of the usual size. */
const LONG_PRICE = 7
/** The most characters of a name that fit a card in letters of the usual size. */
const LONG_NAME = 26

function DrawnCard({ item, index, column, width, currency, count, pickedCount, isTabStop, whyId }: Props) {
  const { texts, money } = useStandTexts()
  const wear = item.wearCategory === null ? null : texts.wear[item.wearCategory]
  const price = money(item.price, currency)
  const fullName = nameWithPhase(item.name, item.phase === undefined ? null : texts.phases[item.phase])
  const shown = shownName({ ...item, name: fullName })
  const isStack = count > 1
  const selected = pickedCount > 0
  const marks = [wear?.word, item.isStatTrak ? 'StatTrak™' : null, item.rarityName]
  const labelParts = [fullName, ...marks, price, isStack ? texts.takenOf(pickedCount, count) : null]
  return (
    // biome-ignore lint/a11y/useSemanticElements: a cell of the grid around it
    <div
      role="gridcell"
      className={`card ${item.rarity}${selected ? ' card-selected' : ''}`}
      style={{ width }}
      data-index={index}
      tabIndex={isTabStop ? 0 : -1}
      aria-colindex={column + 1}
      aria-selected={selected}
      aria-label={labelParts.filter((part) => part !== null && part !== undefined && part !== '').join(', ')}
    >
      <span className="card-marks" aria-hidden="true">
        {item.isStatTrak && <span className="mark mark-stattrak">ST</span>}
        {wear !== null && (
          <span className="mark" title={wear.word}>
            {wear.short}
          </span>
        )}
      </span>
      {selected && !isStack && (
        <span className="card-tick">
          <TickIcon size={13} />
        </span>
      )}
      {isStack && <Stepper name={item.name} count={count} pickedCount={pickedCount} />}
      <span className="card-picture">
        <Picture url={item.iconUrl} size={PICTURE} />
        <button
          type="button"
          className="card-why"
          tabIndex={-1}
          popoverTarget={whyId}
          aria-label={texts.whyPriceOf(price, item.name)}
          data-part="why"
        >
          ?
        </button>
      </span>
      <span className="card-rarity">{hyphenated(capitalised(item.rarityName ?? ''))}</span>
      {shown.thing !== null && <span className="card-thing">{shown.thing}</span>}
      <span className={nameClassOf(shown)} title={fullName}>
        {shown.name}
      </span>
      <span className={price.length > LONG_PRICE ? 'card-price card-price-long' : 'card-price'}>
        <CurrencyIcon currency={currency} />
        {price}
      </span>
    </div>
  )
}

/** True if the card can stay as it was drawn. */
export function isSameCard(before: Props, after: Props): boolean {
  return (
    before.item === after.item &&
    before.index === after.index &&
    before.column === after.column &&
    before.width === after.width &&
    before.count === after.count &&
    before.pickedCount === after.pickedCount &&
    before.isTabStop === after.isTabStop &&
    before.currency === after.currency
  )
}

/** An item, or a stack of equal ones. The entire card can be pressed; the grid around it handles presses and keys. */
export const Card = memo(DrawnCard, isSameCard)

function nameClassOf({ thing, name }: ShownName): string {
  if (thing === null) return 'card-name card-name-alone'
  return name.length > LONG_NAME ? 'card-name card-name-long' : 'card-name'
}

type StepperProps = { name: string; count: number; pickedCount: number }

/** How many of a stack are picked. The grid handles presses and keys. */
function Stepper({ name, count, pickedCount }: StepperProps) {
  const { texts } = useStandTexts()
  if (pickedCount === 0)
    return (
      <span className="card-stepper" aria-hidden="true">
        ×{count}
      </span>
    )
  const face = `${pickedCount}/${count}`
  const isAll = pickedCount === count
  return (
    <span className="card-stepper card-stepper-on">
      <StepButton part="fewer" label={texts.oneFewer(name)} face="−" />
      <StepButton part="all" label={texts.takeAll(face, name)} face={face} isOff={isAll} />
      <StepButton part="more" label={texts.oneMore(name)} face="+" isOff={isAll} />
    </span>
  )
}

/** `face` is the visible text, `label` the accessible name. */
type StepProps = { part: 'fewer' | 'all' | 'more'; label: string; face: string; isOff?: boolean }

/** A button that is off still receives its press, so the card beneath does not. */
function StepButton({ part, label, face, isOff = false }: StepProps) {
  return (
    <button type="button" tabIndex={-1} data-part={part} aria-label={label} aria-disabled={isOff}>
      {face}
    </button>
  )
}
