import PropTypes from 'prop-types';
import { Button } from './Button';

export default function Price({ amount, currency, onBuy }) {
  return <div>{amount} {currency} <Button label="Buy" onPress={onBuy} /></div>;
}

Price.propTypes = {
  amount: PropTypes.number.isRequired,
  currency: PropTypes.oneOf(['EUR', 'USD']),
  onBuy: PropTypes.func,
};

Price.defaultProps = { currency: 'EUR' };
