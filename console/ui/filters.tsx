import { useId } from 'react'
import { setQuery } from './place.ts'

export type FilterField = {
  name: string
  label: string
  options?: readonly string[]
  type?: 'text' | 'date' | 'checkbox'
  /** The initial choice. Without it, the filter also offers "all". */
  fallback?: string
}

/** Filters of a list. The page's address has the chosen values. */
export function Filters({ query, fields }: { query: URLSearchParams; fields: readonly FilterField[] }) {
  const isSet = fields.some(({ name }) => query.has(name))
  const form = (
    <form className="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      {fields.map((field) => (
        <Filter key={field.name} {...field} value={query.get(field.name) ?? ''} />
      ))}
      {isSet && (
        <button
          type="button"
          className="link"
          onClick={() => setQuery(Object.fromEntries(fields.map(({ name }) => [name, ''])))}
        >
          Clear
        </button>
      )}
    </form>
  )
  // On a narrow screen, many filters would push the first row out of view.
  if (fields.length <= MOST_UNFOLDED || !matchMedia(NARROW).matches) return form
  return (
    <details open={isSet}>
      <summary>Filters</summary>
      {form}
    </details>
  )
}

const MOST_UNFOLDED = 3
const NARROW = '(max-width: 900px)'

function Filter({ name, label, options, type = 'text', fallback, value }: FilterField & { value: string }) {
  const id = useId()
  const choose = (chosen: string): void => setQuery({ [name]: chosen.trim() })
  return (
    <div className={type === 'checkbox' ? 'filter filter-box' : 'filter'}>
      <label htmlFor={id}>{label}</label>
      {options !== undefined ? (
        <select
          id={id}
          value={value === '' ? (fallback ?? '') : value}
          onChange={(event) => choose(event.target.value)}
        >
          {fallback === undefined && <option value="">all</option>}
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : type === 'checkbox' ? (
        <input
          id={id}
          type="checkbox"
          checked={value === '1'}
          onChange={(event) => choose(event.target.checked ? '1' : '')}
        />
      ) : (
        <input
          key={value}
          id={id}
          type={type}
          defaultValue={value}
          maxLength={200}
          autoComplete="off"
          onBlur={(event) => choose(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') choose(event.currentTarget.value)
          }}
        />
      )}
    </div>
  )
}
